#include "core/parts/task.h"

namespace draftlab {

std::string piece_of(const Tokenizer* tokenizer, Token token) {
  const bool known = tokenizer && token >= 0 && token < tokenizer->vocabulary();
  return known ? tokenizer->piece(token) : std::string();
}

NoTokenizer::NoTokenizer(const std::string& task)
    : ConfigError("task '{}' decodes text, but the model has no tokenizer", task) {}

}  // namespace draftlab
