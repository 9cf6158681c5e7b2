// A tokenizer for tests of tasks: the token of a character is its code, so positions can be
// counted.
#pragma once

#include <string>
#include <vector>

#include "core/parts/task.h"

namespace draftlab {

class Ascii final : public Tokenizer {
 public:
  std::vector<Token> encode(const std::string& text) const override {
    return {text.begin(), text.end()};
  }
  std::string decode(const std::vector<Token>& tokens) const override {
    return {tokens.begin(), tokens.end()};
  }
  std::string piece(Token token) const override { return std::string(1, static_cast<char>(token)); }
  int vocabulary() const override { return 128; }
  Token begin() const override { return 1; }
  Token separator() const override { return 4; }
  Token mask() const override { return 6; }
};

}  // namespace draftlab
