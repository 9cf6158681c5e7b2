// XLNet's tokenizer over the sentencepiece library: unigram pieces, nine special ids.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/parts/task.h"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace draftlab {

// Ids 0 to 8 of every XLNet vocabulary.
inline constexpr const char* kSpecialPieces[] = {"<unk>", "<s>",    "</s>",  "<cls>", "<sep>",
                                                 "<pad>", "<mask>", "<eod>", "<eop>"};

class SentencePieceTokenizer final : public Tokenizer {
 public:
  explicit SentencePieceTokenizer(const std::string& file);
  ~SentencePieceTokenizer() override;
  std::vector<Token> encode(const std::string& text) const override;
  // Pieces joined; specials appear literally, as in the judged text of the ASSD authors.
  std::string decode(const std::vector<Token>& tokens) const override;
  std::string piece(Token token) const override;
  int vocabulary() const override;
  Token begin() const override { return 1; }
  Token separator() const override { return 4; }
  Token mask() const override { return 6; }

 private:
  const std::string& known(Token token) const;
  std::unique_ptr<sentencepiece::SentencePieceProcessor> processor_;
  std::vector<std::string>
      pieces_;  // by id: the library looks after its own state at every question
};

}  // namespace draftlab
