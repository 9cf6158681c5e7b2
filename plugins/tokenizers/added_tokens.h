// Finds the tokens that are looked for in a text before anything else is done with it:
// <|endoftext|> and the like.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/prob/types.h"

namespace draftlab {

struct AddedToken {
  Token id = kNoToken;
  std::string content;
  // The token is found only where no character of a word stands before or behind it.
  bool single_word = false;
  // The token takes the white space before or behind it along.
  bool lstrip = false, rstrip = false;
  // The token is looked for after the text has been normalized.
  bool normalized = false;
};

// A piece of text or, where `token` is set, the place where that token was found.
struct TextPiece {
  std::string_view text;
  Token token = kNoToken;
};

class AddedTokens {
 public:
  explicit AddedTokens(std::vector<AddedToken> tokens);
  // Cuts a text at the tokens in it: the leftmost first and, of those that begin together, the
  // longest. No piece is empty.
  std::vector<TextPiece> cut(std::string_view text) const;

 private:
  // The tokens form a trie of bytes.
  struct Node {
    std::vector<std::pair<unsigned char, int>> next;
    int token = -1;
  };
  int child(int node, unsigned char byte) const;
  // Returns the index of the longest token that begins at `at`, or -1 where none does.
  int longest(std::string_view text, std::size_t at) const;
  std::vector<AddedToken> tokens_;
  std::vector<Node> trie_{1};
};

}  // namespace draftlab
