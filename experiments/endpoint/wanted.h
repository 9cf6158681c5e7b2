// What a request of OpenAI's completions or chat protocol asks for, read from its body.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/prob/types.h"

namespace draftlab {

// Why a request is not answered: the status of HTTP, a sentence, and the parameter that it is about
// ("" where it is about none).
struct Refusal : std::runtime_error {
  Refusal(int status, const std::string& sentence, std::string parameter = "")
      : std::runtime_error(sentence), status(status), parameter(std::move(parameter)) {}
  int status;
  std::string parameter;
};

// A turn of a conversation: its role is system, user or assistant.
struct ChatMessage {
  std::string role, content;
};
// A prompt of the config's task, and which sample of it: what `draftlab run` decodes there.
struct TaskPrompt {
  std::int64_t index = 0, sample = 0;
};
// What an answer stands behind: a text, tokens, a conversation, or a prompt of the task.
using Opening = std::variant<std::string, std::vector<Token>, std::vector<ChatMessage>, TaskPrompt>;

enum class Protocol { completions, chat };

struct Wanted {
  Protocol protocol = Protocol::completions;
  std::vector<Opening> openings;
  // The most tokens of an answer, and the answers to each opening.
  std::int64_t tokens = 16, answers = 1;
  // Whether pieces of the text are sent as they come, with the tokens' number at the end.
  bool stream = false, usage = false;
  // Whether the text of the prompt stands before the answer.
  bool echo = false;
  // Whether an end-of-text token ends nothing.
  bool ignore_end = false;
  // The probability of each token is wanted, and so many of the most probable ones.
  std::optional<std::int64_t> likeliest;
  // Nothing here leaves what the config says.
  std::optional<double> temperature, top_p;
  std::optional<std::int64_t> top_k;
  // Requests of one seed and one prompt have one answer; without a seed each draws anew.
  std::optional<std::uint64_t> seed;
  // Texts before the first of which the answer ends.
  std::vector<std::string> stops;
};

// What one request may ask for at most.
struct Limits {
  std::int64_t tokens = 1024, answers = 64;
};

// Reads a body. What the decoder could not honour (penalties, tools, formats of the answer) is
// refused by name where it is set to what would change the answer; keys of which nothing depends,
// such as `user`, are passed over. Throws Refusal (400).
Wanted read_wanted(Protocol protocol, const std::string& body, const Limits& limits);

}  // namespace draftlab
