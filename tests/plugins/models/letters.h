// A tokenizer for tests: one token a letter, after XLNet's nine special ids.
#pragma once

#include <string>
#include <vector>

#include "core/parts/task.h"

namespace draftlab {

class Letters final : public Tokenizer {
 public:
  std::vector<Token> encode(const std::string& text) const override {
    std::vector<Token> tokens;
    for (char letter : text) tokens.push_back(9 + letter - 'a');
    return tokens;
  }
  std::string decode(const std::vector<Token>& tokens) const override {
    std::string text;
    for (Token token : tokens) text += piece(token);
    return text;
  }
  std::string piece(Token token) const override {
    return token < 9 ? "." : std::string(1, static_cast<char>('a' + token - 9));
  }
  int vocabulary() const override { return 9 + 26; }
  Token begin() const override { return 1; }
  Token separator() const override { return 4; }
  Token mask() const override { return 6; }
};

}  // namespace draftlab
