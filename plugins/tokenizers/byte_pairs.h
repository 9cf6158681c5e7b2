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

// Spells bytes in GPT-2's alphabet, which files use: printable characters of Latin-1 stand for
// themselves, and the other bytes for U+0100 on.
std::string spelled_bytes(std::string_view bytes);
// Reads such a spelling. Returns false where it has a character outside the alphabet; `bytes` then
// holds what stands before that character.
bool read_spelling(std::string_view spelling, std::string* bytes);

class BytePairs {
 public:
  // The keys are spelled in that alphabet.
  using Vocabulary = std::unordered_map<std::string, Token>;
  // The pairs are spelled in that alphabet, and stand in the order of their rank.
  using Merges = std::vector<std::pair<std::string, std::string>>;
  // With `whole_words`, a word that is in the vocabulary is that token, whatever the merges say
  // (ignore_merges). Throws DataError naming the file and the rule where a merge's parts or their
  // union are not tokens.
  BytePairs(Vocabulary vocabulary, const Merges& merges, bool whole_words, const std::string& file);
  // Appends the tokens of a word's bytes. Throws DataError where the vocabulary lacks a byte.
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
