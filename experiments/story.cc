#include "experiments/story.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/base/text.h"

namespace draftlab {
namespace {

constexpr const char *kGreen = "\033[32m", *kRed = "\033[31m", *kPlain = "\033[0m";

// A word that stands at once on a line: its text without the blank before it, and what it is.
struct Piece {
  std::string text;
  bool begins_word = false;
  const char* colour = nullptr;
};

std::size_t columns(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// Returns the columns of the word that begins with piece `first`.
std::size_t word_columns(const std::vector<Piece>& pieces, std::size_t first) {
  std::size_t wide = columns(pieces[first].text);
  for (std::size_t i = first + 1; i < pieces.size() && !pieces[i].begins_word; ++i)
    wide += columns(pieces[i].text);
  return wide;
}

const char* colour_of(const TokenRow& token) {
  if (token.source == static_cast<std::int32_t>(Source::accepted)) return kGreen;
  return token.source == static_cast<std::int32_t>(Source::resampled) ? kRed : nullptr;
}

// SentencePiece and byte-level vocabularies write the blank before a word in two ways.
Piece piece_of(std::string text) {
  Piece piece;
  for (const std::string blank : {"\u2581", "\u0120", " "}) {
    if (!text.starts_with(blank)) continue;
    piece.begins_word = true;
    text.erase(0, blank.size());
    break;
  }
  piece.text = one_line(text);
  return piece;
}

// Returns what stands at each position; a position that nothing was committed at was given.
std::vector<Piece> pieces_of(const SampleRow& sample,
                             const std::function<std::string(Token)>& spell) {
  std::map<std::int32_t, const TokenRow*> tokens;
  for (const StepRow& step : sample.steps)
    for (const TokenRow& token : step.tokens)
      if (token.commits()) tokens[token.position] = &token;
  std::vector<Piece> pieces;
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
    pieces.push_back(piece_of(text));
    pieces.back().colour = colour_of(*token->second);
    pieces.back().begins_word |= given;
    given = false;
  }
  return pieces;
}

}  // namespace

std::string coloured_story(const SampleRow& sample, const std::function<std::string(Token)>& piece,
                           std::size_t width) {
  const std::vector<Piece> pieces = pieces_of(sample, piece);
  if (pieces.empty()) return "";
  std::string text;
  std::size_t at = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Piece& each = pieces[i];
    if (each.begins_word && at > 0) {
      const bool fits = at + 1 + word_columns(pieces, i) <= width;
      text += fits ? " " : "\n";
      at = fits ? at + 1 : 0;
    }
    text += each.colour ? each.colour + each.text + kPlain : each.text;
    at += columns(each.text);
  }
  return text + "\n" + kGreen + "accepted drafts" + kPlain + ", " + kRed +
         "replacements of rejected drafts" + kPlain + ", other tokens; \u2026 was given\n";
}

}  // namespace draftlab
