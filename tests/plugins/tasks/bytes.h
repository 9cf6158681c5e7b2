// A tokenizer for tests of tasks: bytes, with a token that ends texts; nothing begins them.
#pragma once

#include <string>
#include <vector>

#include "core/parts/task.h"

namespace draftlab {

class Bytes final : public Tokenizer {
 public:
  std::vector<Token> encode(const std::string& text) const override {
    std::vector<Token> tokens;
    for (const char c : text) tokens.push_back(static_cast<unsigned char>(c));
    return tokens;
  }
  std::string decode(const std::vector<Token>& tokens) const override {
    std::string text;
    for (const Token token : tokens)
      if (token < 256) text += static_cast<char>(token);
    return text;
  }
  std::string piece(Token token) const override { return std::to_string(token); }
  int vocabulary() const override { return 258; }
  Token begin() const override { return kNoToken; }
  Token separator() const override { return 256; }
  Token mask() const override { return 257; }
};

// The text that a prompt gives.
inline std::string given(const Task& task, int index) {
  std::vector<Token> tokens;
  for (const auto& [position, token] : task.prompt(index).given) tokens.push_back(token);
  return Bytes().decode(tokens);
}

}  // namespace draftlab
