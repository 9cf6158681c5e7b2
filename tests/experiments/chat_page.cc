#include "experiments/chat_page.h"

#include <doctest/doctest.h>

#include <sstream>

using namespace draftlab;

namespace {

constexpr const char *kChatGreen = "\033[32m", *kChatRed = "\033[31m", *kChatStruck = "\033[31;9m",
                     *kChatFaint = "\033[2m", *kChatPlain = "\033[0m";

TokenRow written_at(std::int32_t position, Token token, Source source) {
  TokenRow row;
  row.position = position;
  row.token = token;
  row.source = static_cast<std::int32_t>(source);
  return row;
}

DraftRow draft_at(std::int32_t position, Token token, int accepted) {
  DraftRow row;
  row.position = position;
  row.token = token;
  row.accepted = accepted;
  return row;
}

const std::vector<std::string> kChatPieces = {"\u2581a", "\u2581b", "s", "\u2581c", ""};
std::string chat_spelling(Token token) { return kChatPieces[token]; }

// Position 0 was given. Two drafts, the second rejected; then one that is accepted, and a bonus.
SampleRow two_steps() {
  SampleRow row;
  row.length = 9;
  row.steps.resize(2);
  row.steps[0].committed = 2;
  row.steps[0].drafts = {draft_at(1, 0, 1), draft_at(2, 3, 0), draft_at(3, 2, -1)};
  row.steps[0].tokens = {written_at(1, 0, Source::accepted), written_at(2, 1, Source::resampled)};
  row.steps[1].step = 1;
  row.steps[1].committed = 2;
  row.steps[1].drafts = {draft_at(3, 2, 1)};
  row.steps[1].tokens = {written_at(3, 2, Source::accepted), written_at(5, 3, Source::bonus)};
  return row;
}

Prompt begun() {
  Prompt prompt;
  prompt.length = 9;
  prompt.given = {{0, 0}};
  return prompt;
}

std::string in_colour(const char* colour, const std::string& text) {
  return colour + text + kChatPlain;
}

}  // namespace

TEST_CASE("a page shows what was accepted, replaced, rejected and only drafted") {
  SampleRow row = two_steps();
  row.steps.pop_back();
  const Prompt prompt = begun();
  const ChatView view{chat_spelling, 80, 24};
  CHECK(chat_text({row, prompt, 2}, view) ==
        in_colour(kChatGreen, "a") + " " + in_colour(kChatStruck, "c") + " " +
            in_colour(kChatRed, "b") + in_colour(kChatFaint, "s"));
  CHECK(chat_text({row, prompt, 2, true}, view) ==
        in_colour(kChatGreen, "a") + " " + in_colour(kChatRed, "b"));
  CHECK(chat_step(row, view) == "step 0: a [-c-] {+b+}");
}

TEST_CASE("a page has dots where a later token is known, and ids where a token has no text") {
  SampleRow row = two_steps();
  row.steps[1].tokens.push_back(written_at(6, 4, Source::threshold));
  const Prompt prompt = begun();
  const ChatView view{chat_spelling, 80, 24};
  CHECK(chat_text({row, prompt, 2}, view) ==
        in_colour(kChatGreen, "a") + " " + in_colour(kChatRed, "b") + in_colour(kChatGreen, "s") +
            " " + in_colour(kChatFaint, "\u00b7") + " c <4>");
}

TEST_CASE("the status counts tokens, steps and forwards") {
  const SampleRow row = two_steps();
  const Prompt prompt = begun();
  CHECK(chat_status({row, prompt, 3}) ==
        "step 2 | 4 tokens | NFE 3 | 2.0 tokens a step | 1.3 tokens a forward");
  CHECK(chat_status({SampleRow{}, prompt, 0}) ==
        "step 0 | 0 tokens | NFE 0 | 0.0 tokens a step | 0.0 tokens a forward");
}

TEST_CASE("a terminal's page is written over, and a pipe's grows by a line a step") {
  const SampleRow row = two_steps();
  const Prompt prompt = begun();
  std::ostringstream terminal, pipe;
  ChatPage over(terminal, {chat_spelling, 80, 24}), along(pipe, {chat_spelling, 80, 0});
  for (ChatPage* const page : {&over, &along}) {
    page->show({row, prompt, 2});
    page->show({row, prompt, 2, true});
  }
  CHECK(terminal.str().find("\033[2A\r\033[J") != std::string::npos);
  CHECK(pipe.str() == "step 1: s c\n" + chat_status({row, prompt, 2}) + "\n");
}

TEST_CASE("a page that is longer than the terminal shows its end") {
  SampleRow row;
  row.steps.resize(1);
  for (std::int32_t i = 1; i < 40; ++i)
    row.steps[0].tokens.push_back(written_at(i, i == 39 ? 3 : 0, Source::threshold));
  const Prompt prompt = begun();
  std::ostringstream out;
  ChatPage page(out, {chat_spelling, 3, 6});
  page.show({row, prompt, 2});
  page.show({row, prompt, 2, true});
  const std::string text = out.str();
  CHECK(text.starts_with("a a\na a\na a\nc\n"));
  CHECK(text.find("\033[5A\r\033[J") != std::string::npos);
}
