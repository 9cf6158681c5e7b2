// Byte-level BPE (GPT-2, Qwen, LLaDA, ...), as Hugging Face's tokenizer.json describes it, or
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
  // The normal forms, applied in this order.
  std::vector<std::string> forms;
  std::vector<AddedToken> added;
  PreTokenizer words;
  BytePairs::Vocabulary vocabulary;
  BytePairs::Merges merges;
  bool whole_words = false;
  // The same as in Tokenizer.
  Token begin = kNoToken, mask = kNoToken;
  // The first of these is the separator.
  std::vector<Token> ends;
};

class ByteLevelTokenizer final : public Tokenizer {
 public:
  // Throws DataError naming `file` where two texts have one id or one text has two.
  ByteLevelTokenizer(ByteLevelParts parts, const std::string& file);
  // Turns added tokens that are written out in the text into those tokens, as Hugging Face's
  // library does.
  std::vector<Token> encode(const std::string& text) const override;
  // Bytes that are not UTF-8 become U+FFFD. An id without a text (a padded row of the model's
  // table) adds nothing.
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
  // The added tokens that are looked for before and after the text is normalized.
  AddedTokens raw_, normalized_;
  std::map<Token, Spelling> spellings_;
  int vocabulary_ = 0;
};

}  // namespace draftlab
