#include "experiments/endpoint/wanted.h"

#include <doctest/doctest.h>

using namespace draftlab;

namespace {

Wanted completion(const std::string& body) {
  return read_wanted(Protocol::completions, body, {.tokens = 100, .answers = 4});
}
Wanted conversation(const std::string& body) {
  return read_wanted(Protocol::chat, body, {.tokens = 100, .answers = 4});
}

// Reads a body that is refused, and returns the parameter and the sentence.
std::string refusal(Protocol protocol, const std::string& body) {
  try {
    read_wanted(protocol, body, {.tokens = 100, .answers = 4});
  } catch (const Refusal& why) {
    CHECK(why.status == 400);
    return why.parameter + ": " + why.what();
  }
  return "read";
}

}  // namespace

TEST_CASE("a prompt is a text, tokens, or several of either") {
  CHECK(std::get<std::string>(completion(R"({"prompt": "Once"})").openings.front()) == "Once");
  const std::vector<Token> tokens = {3, 0, 7};
  CHECK(std::get<std::vector<Token>>(completion(R"({"prompt": [3, 0, 7]})").openings.front()) ==
        tokens);
  const Wanted both = completion(R"({"prompt": ["a", [3, 0, 7]], "n": 2})");
  REQUIRE(both.openings.size() == 2);
  CHECK(std::get<std::vector<Token>>(both.openings[1]) == tokens);
  CHECK(both.answers == 2);
  const Wanted own = completion(R"({"draftlab": {"prompt": 3, "sample": 1}})");
  CHECK(std::get<TaskPrompt>(own.openings.front()).index == 3);
  CHECK(std::get<TaskPrompt>(own.openings.front()).sample == 1);
}

TEST_CASE("keys that are absent or null have the protocol's defaults or the config's") {
  const Wanted wanted = completion(R"({"prompt": "a", "temperature": null, "model": "x"})");
  CHECK(wanted.tokens == 16);
  CHECK(wanted.answers == 1);
  CHECK(!wanted.temperature);
  CHECK(!wanted.likeliest);
  CHECK(!wanted.seed);
  CHECK(conversation(R"({"messages": [{"role": "user", "content": "a"}]})").tokens == 100);
}

TEST_CASE("what is asked for is read") {
  const Wanted wanted = completion(
      R"({"prompt": "a", "max_tokens": 0, "echo": true, "logprobs": 2, "stop": "x", "seed": -1,
          "temperature": 0.5, "top_p": 0.9, "top_k": -1, "ignore_eos": true})");
  CHECK(wanted.tokens == 0);
  CHECK(wanted.echo);
  CHECK(wanted.likeliest == 2);
  CHECK(wanted.stops == std::vector<std::string>{"x"});
  CHECK(wanted.seed == static_cast<std::uint64_t>(-1));
  CHECK(wanted.temperature == 0.5);
  CHECK(wanted.top_p == 0.9);
  CHECK(wanted.top_k == -1);
  CHECK(wanted.ignore_end);
  const Wanted streamed =
      completion(R"({"prompt": "a", "stream": true, "stream_options": {"include_usage": true}})");
  CHECK(streamed.stream);
  CHECK(streamed.usage);
}

TEST_CASE("a conversation is a system's turn or none, and then the others in turn") {
  const Wanted wanted = conversation(R"({"messages": [
      {"role": "system", "content": "s"}, {"role": "user", "content": "q"},
      {"role": "assistant", "content": "a"},
      {"role": "user", "content": [{"type": "text", "text": "r"}, {"type": "text", "text": "t"}]}],
      "max_completion_tokens": 7, "logprobs": true, "top_logprobs": 3})");
  const auto& messages = std::get<std::vector<ChatMessage>>(wanted.openings.front());
  REQUIRE(messages.size() == 4);
  CHECK(messages[0].role == "system");
  CHECK(messages[3].content == "rt");
  CHECK(wanted.tokens == 7);
  CHECK(wanted.likeliest == 3);
  const char* const kWrong[] = {
      R"([])",
      R"([{"role": "assistant", "content": "a"}])",
      R"([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}])",
      R"([{"role": "user", "content": "a"}, {"role": "system", "content": "b"}])",
      R"([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}])",
      R"([{"role": "user"}])",
      R"([{"role": "user", "content": [{"type": "image_url"}]}])",
      R"([3])"};
  for (const std::string messages_of : kWrong)
    CHECK(refusal(Protocol::chat, "{\"messages\": " + messages_of + "}").starts_with("messages: "));
}

TEST_CASE("what is wrong with a body is named") {
  const Protocol text = Protocol::completions;
  CHECK(refusal(text, "{\"prompt\": \"a\"").starts_with(": the body is no JSON"));
  CHECK(refusal(text, "[]") == ": the body is to be a JSON object");
  CHECK(refusal(text, "{}") == "prompt: 'prompt' is missing");
  CHECK(refusal(text, R"({"prompt": []})").starts_with("prompt: "));
  CHECK(refusal(text, R"({"prompt": [1, -2]})").starts_with("prompt: "));
  CHECK(refusal(text, R"({"prompt": "a", "temperature": "hot"})") ==
        "temperature: 'temperature' is to be a number from 0.0 to 100.0, not \"hot\"");
  CHECK(refusal(text, R"({"prompt": "a", "max_tokens": 101})") ==
        "max_tokens: 'max_tokens' is to be an integer from 1 to 100, not 101");
  CHECK(refusal(text, R"({"prompt": "a", "max_tokens": 1e30})").starts_with("max_tokens: "));
  CHECK(refusal(text, R"({"prompt": "a", "seed": 18446744073709551615})").starts_with("seed: "));
  CHECK(refusal(text, R"({"prompt": "a", "stop": ""})").starts_with("stop: "));
  CHECK(refusal(text, R"({"prompt": ["a", "b"], "n": 3})") ==
        "prompt: the request asks for 6 answers, and at most 4 are given at once");
  CHECK(refusal(text, R"({"prompt": "a", "stream": true, "logprobs": 1})").starts_with("logprobs"));
  CHECK(refusal(text, R"({"draftlab": {"prompt": 0}, "echo": true})").starts_with("draftlab: "));
}

TEST_CASE("what would change the answer and cannot be had is refused, and neutral values are not") {
  const Protocol text = Protocol::completions;
  CHECK(refusal(text, R"({"prompt": "a", "presence_penalty": 0.5})").starts_with("presence_pen"));
  CHECK(refusal(text, R"({"prompt": "a", "logit_bias": {"5": 1}})").starts_with("logit_bias: "));
  CHECK(refusal(text, R"({"prompt": "a", "response_format": {"type": "json_object"}})")
            .starts_with("response_format: "));
  CHECK(refusal(text, R"({"prompt": "a", "presence_penalty": 0, "repetition_penalty": 1.0,
                          "best_of": 2, "n": 2, "logit_bias": {}, "user": "u"})") == "read");
}
