// Tokens that are found in a text before anything else is done with it: <|endoftext|> and the like.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/prob/types.h"

namespace draftlab {

struct AddedToken {
  Token id = kNoToken;
  std::string content;
  bool single_word = false;  // only where no character of a word stands before or behind it
  bool lstrip = false, rstrip = false;  // takes the white space before or behind it along
  bool normalized = false;              // looked for after the text has been normalized
};

// A text or, where `token` is one, the place where it was found.
struct TextPiece {
  std::string_view text;
  Token token = kNoToken;
};

class AddedTokens {
 public:
  explicit AddedTokens(std::vector<AddedToken> tokens);
  // Cuts at the tokens in `text`: the leftmost first, of those that begin together the longest. No
  // piece is empty.
  std::vector<TextPiece> cut(std::string_view text) const;

 private:
  struct Node {
    std::vector<std::pair<unsigned char, int>> next;
    int token = -1;
  };  // a trie of bytes
  int child(int node, unsigned char byte) const;
  // Index of the longest token that begins at `at`; -1: none does.
  int longest(std::string_view text, std::size_t at) const;
  std::vector<AddedToken> tokens_;
  std::vector<Node> trie_{1};
};

}  // namespace draftlab
