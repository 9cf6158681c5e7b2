// A tokenizer for tests, in which words are tokens, numbered from 9 as they are met, behind XLNet's
// nine special ids; so every number can be counted by hand.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "core/parts/task.h"

namespace draftlab {

class Words : public Tokenizer {
 public:
  std::vector<Token> encode(const std::string& text) const override {
    std::istringstream stream(text);
    std::vector<Token> tokens;
    for (std::string word; stream >> word;) {
      const auto found = std::find(words_.begin(), words_.end(), word);
      tokens.push_back(static_cast<Token>(found - words_.begin()) + 9);
      if (found == words_.end()) words_.push_back(word);
    }
    return tokens;
  }
  std::string decode(const std::vector<Token>& tokens) const override {
    std::string text;
    for (Token token : tokens) text += (text.empty() ? "" : " ") + piece(token);
    return text;
  }
  std::string piece(Token token) const override {
    return token < 9 ? "<" + std::to_string(token) + ">"
                     : words_.at(static_cast<std::size_t>(token - 9));
  }
  int vocabulary() const override { return 9 + static_cast<int>(words_.size()); }
  Token begin() const override { return 1; }
  Token separator() const override { return 4; }
  Token mask() const override { return 6; }

 private:
  mutable std::vector<std::string> words_;
};

}  // namespace draftlab
