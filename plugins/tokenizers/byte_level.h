// Byte-level BPE (GPT-2, Qwen, LLaDA, ...): what Hugging Face's tokenizer.json describes, or
// vocab.json and merges.txt.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/parts/task.h"
#include "plugins/tokenizers/added_tokens.h"
#include "plugins/tokenizers/byte_pairs.h"
#include "plugins/tokenizers/pre_tokenizer.h"

namespace draftlab {

struct ByteLevelParts {
  std::vector<std::string> forms;  // normal forms, applied in this order
  std::vector<AddedToken> added;
  PreTokenizer words;
  BytePairs::Vocabulary vocabulary;
  BytePairs::Merges merges;
  bool whole_words = false;
  Token begin = kNoToken, mask = kNoToken;  // as in Tokenizer
  std::vector<Token> ends;                  // the first is the separator
};

class ByteLevelTokenizer final : public Tokenizer {
 public:
  // DataError naming `file` where two texts have one id or one text two.
  ByteLevelTokenizer(ByteLevelParts parts, const std::string& file);
  // Added tokens that are written out in the text become those tokens, as in Hugging Face's
  // library.
  std::vector<Token> encode(const std::string& text) const override;
  // Bytes that are no UTF-8 become U+FFFD; an id without a text (a padded row of the model's table)
  // is nothing.
  std::string decode(const std::vector<Token>& tokens) const override;
  std::string piece(Token token) const override;
  int vocabulary() const override { return vocabulary_; }
  Token begin() const override { return parts_.begin; }
  Token separator() const override { return parts_.ends.front(); }
  Token mask() const override { return parts_.mask; }
  std::vector<Token> ends() const override { return parts_.ends; }

 private:
  struct Spelling {
    std::string piece, bytes;
  };
  ByteLevelParts parts_;
  BytePairs pairs_;
  AddedTokens raw_,
      normalized_;  // added tokens that are looked for before and after the text is normalized
  std::map<Token, Spelling> spellings_;
  int vocabulary_ = 0;
};

}  // namespace draftlab
