// Texts cut into canvases: what `infill` and `prefix` decode.
#pragma once

#include <string>
#include <vector>

#include "core/config/options.h"
#include "core/parts/task.h"

namespace draftlab {

struct PassageOptions {
  std::string source = "stories", path, field = "text", documents = "lines", packing = "documents",
              split = "test";
  std::int64_t length = 128, least = 16, count = 1000, seed = 1;
  bool begin = true;
  void declare(OptionSet& set);
};

struct Passage {
  std::string id;
  std::vector<Token> tokens;  // with <s> in front where the canvas begins with it
};

struct Passages {
  std::vector<Passage> items;
  std::string digest;  // of their tokens
};

// ConfigError when there is no tokenizer or no path where one is needed; DataError when the data
// yields no passage.
Passages read_passages(const PassageOptions& options, const Tokenizer* tokenizer,
                       const std::string& task);

// Whether a canvas begins with the tokenizer's <s>: where the task asks for it, and there is one.
bool begins(const Tokenizer& tokenizer, bool asked);

// The name with a hash of what is given and what stood there: prompts that differ have different
// names, so arms that decode different ones are never paired.
std::string prompt_id(const std::string& name, const Prompt& prompt);

// Share of the generated tokens that are what stood there, and whether all are.
std::vector<Score> token_scores(const Prompt& prompt, const Canvas& canvas);

// What a canvas says, from prompt.offset on; positions still masked are left out.
std::string decoded_text(const Tokenizer& tokenizer, const Prompt& prompt, const Canvas& canvas);

// 16 hex digits of a stable hash over tokens, folded into what went before.
std::string digest_of(const std::vector<Token>& tokens, const std::string& before);

}  // namespace draftlab
