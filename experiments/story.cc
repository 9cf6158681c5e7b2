#include "experiments/story.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/base/text.h"

namespace draftlab {
namespace {

std::size_t columns(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// Returns the columns of the word that begins with piece `first`.
std::size_t word_columns(const std::vector<StoryPiece>& pieces, std::size_t first) {
  std::size_t wide = columns(pieces[first].text);
  for (std::size_t i = first + 1; i < pieces.size() && !pieces[i].begins_word; ++i)
    wide += columns(pieces[i].text);
  return wide;
}

// Returns what stands at each position; a position that nothing was committed at was given.
std::vector<StoryPiece> pieces_of(const SampleRow& sample,
                                  const std::function<std::string(Token)>& spell) {
  std::map<std::int32_t, const TokenRow*> tokens;
  for (const StepRow& step : sample.steps)
    for (const TokenRow& token : step.tokens)
      if (token.commits()) tokens[token.position] = &token;
  std::vector<StoryPiece> pieces;
  bool given = false;
  for (std::int32_t position = 0; position < sample.length; ++position) {
    const auto token = tokens.find(position);
    if (token == tokens.end()) {
      if (!given) pieces.push_back({.text = "\u2026", .begins_word = true});
      given = true;
      continue;
    }
    const std::string text = spell(token->second->token);
    if (text.empty()) return {};
    pieces.push_back(story_piece(text));
    pieces.back().colour = colour_of(*token->second);
    pieces.back().begins_word |= given;
    given = false;
  }
  return pieces;
}

}  // namespace

const char* colour_of(const TokenRow& token) {
  if (token.source == static_cast<std::int32_t>(Source::accepted)) return kGreen;
  return token.source == static_cast<std::int32_t>(Source::resampled) ? kRed : nullptr;
}

StoryPiece story_piece(std::string spelling) {
  StoryPiece piece;
  for (const std::string blank : {"\u2581", "\u0120", " "}) {
    if (!spelling.starts_with(blank)) continue;
    piece.begins_word = true;
    spelling.erase(0, blank.size());
    break;
  }
  piece.text = one_line(spelling);
  return piece;
}

std::string wrapped(const std::vector<StoryPiece>& pieces, std::size_t width) {
  std::string text;
  std::size_t at = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const StoryPiece& each = pieces[i];
    if (each.begins_word && at > 0) {
      const bool fits = at + 1 + word_columns(pieces, i) <= width;
      text += fits ? " " : "\n";
      at = fits ? at + 1 : 0;
    }
    text += each.colour ? each.colour + each.text + kPlain : each.text;
    at += columns(each.text);
  }
  return text;
}

std::string coloured_story(const SampleRow& sample, const std::function<std::string(Token)>& piece,
                           std::size_t width) {
  const std::vector<StoryPiece> pieces = pieces_of(sample, piece);
  if (pieces.empty()) return "";
  return wrapped(pieces, width) + "\n" + kGreen + "accepted drafts" + kPlain + ", " + kRed +
         "replacements of rejected drafts" + kPlain + ", other tokens; \u2026 was given\n";
}

}  // namespace draftlab
