// Byte-pair encoding of one word: its bytes are tokens, and neighbours are merged, the earliest
// rule of the list first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/prob/types.h"

namespace draftlab {

// GPT-2's alphabet, in which files spell bytes: printable characters of Latin-1 stand for
// themselves, the others for U+0100 on.
std::string spelled_bytes(std::string_view bytes);
// False where `spelling` has a character that is none of them; `bytes` is then what it had before
// that one.
bool read_spelling(std::string_view spelling, std::string* bytes);

class BytePairs {
 public:
  using Vocabulary = std::unordered_map<std::string, Token>;        // spelled
  using Merges = std::vector<std::pair<std::string, std::string>>;  // spelled, in their order
  // `whole_words`: a word that is in the vocabulary is that token, whatever the merges say
  // (ignore_merges). DataError naming the file and the rule where a merge's parts or their union
  // are no tokens.
  BytePairs(Vocabulary vocabulary, const Merges& merges, bool whole_words, const std::string& file);
  // Appends the tokens of a word's bytes. DataError where the vocabulary lacks a byte.
  void encode(std::string_view word, std::vector<Token>& tokens) const;
  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  struct Merge {
    std::int32_t rank = 0;
    Token token = kNoToken;
  };
  static std::uint64_t key(Token left, Token right) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 |
           static_cast<std::uint32_t>(right);
  }
  Vocabulary vocabulary_;
  bool whole_words_;
  std::string file_;
  Token byte_[256];
  std::unordered_map<std::uint64_t, Merge> merges_;
};

}  // namespace draftlab
