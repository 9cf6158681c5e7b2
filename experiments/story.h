// Decoded texts with their tokens in the colours of a terminal.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/trace/rows.h"

namespace draftlab {

// How a terminal is told to write what follows.
inline constexpr const char *kGreen = "\033[32m", *kRed = "\033[31m", *kPlain = "\033[0m";

// What stands at once on a line: a token's text without the blank before it, and how it is written
// (null: as usual).
struct StoryPiece {
  std::string text;
  bool begins_word = false;
  const char* colour = nullptr;
};

// Takes the spelling of a token apart: SentencePiece and byte-level vocabularies write the blank
// before a word in two ways.
StoryPiece story_piece(std::string spelling);

// Returns the colour of a committed token: green for drafts that were accepted, red for tokens that
// replaced a rejected draft, null for others.
const char* colour_of(const TokenRow& token);

// Sets the pieces in lines of at most `width` columns, which are broken between words. The last
// line has no end.
std::string wrapped(const std::vector<StoryPiece>& pieces, std::size_t width);

// Writes the tokens of a sample in the order of their positions: drafts that were accepted are
// green, tokens that replaced a rejected draft are red, what the prompt gave is an ellipsis, and
// all others have no colour. Lines are broken at `width` columns, and a line below says what the
// colours mean. Returns "" where no token has a text.
std::string coloured_story(const SampleRow& sample, const std::function<std::string(Token)>& piece,
                           std::size_t width);

}  // namespace draftlab
