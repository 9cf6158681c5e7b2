#include "experiments/story.h"

#include <doctest/doctest.h>

using namespace draftlab;

namespace {

TokenRow token_at(std::int32_t position, Token token, Source source) {
  TokenRow row;
  row.position = position;
  row.token = token;
  row.source = static_cast<std::int32_t>(source);
  return row;
}

// Position 0 was given; the others are decoded in two steps.
SampleRow sample() {
  SampleRow row;
  row.length = 5;
  row.steps.resize(2);
  row.steps[0].tokens = {token_at(2, 1, Source::accepted), token_at(1, 0, Source::resampled)};
  row.steps[1].tokens = {token_at(3, 2, Source::accepted), token_at(4, 3, Source::bonus)};
  return row;
}

const std::vector<std::string> kPieces = {"\u2581The", "\u2581cat", "s", "\u2581ran"};
std::string spell(Token token) { return kPieces[token]; }

}  // namespace

TEST_CASE("a story has its accepted drafts in green and its replacements in red") {
  const std::string text = coloured_story(sample(), spell, 100);
  CHECK(text.starts_with("\u2026 \033[31mThe\033[0m \033[32mcat\033[0m\033[32ms\033[0m ran\n"));
  CHECK(text.find("\033[32maccepted drafts\033[0m") != std::string::npos);
}

TEST_CASE("a story is broken where a line is full, and not shown where tokens have no text") {
  CHECK(coloured_story(sample(), spell, 9)
            .starts_with("\u2026 \033[31mThe\033[0m\n\033[32mcat\033[0m\033[32ms\033[0m ran\n"));
  CHECK(coloured_story(
            sample(), [](Token) { return std::string(); }, 100)
            .empty());
}
