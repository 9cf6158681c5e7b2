// XLNet's tokenizer, built on the sentencepiece library: unigram pieces and nine special ids.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/parts/task.h"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace draftlab {

// The pieces of ids 0 to 8 in every XLNet vocabulary.
inline constexpr const char* kSpecialPieces[] = {"<unk>", "<s>",    "</s>",  "<cls>", "<sep>",
                                                 "<pad>", "<mask>", "<eod>", "<eop>"};

class SentencePieceTokenizer final : public Tokenizer {
 public:
  explicit SentencePieceTokenizer(const std::string& file);
  ~SentencePieceTokenizer() override;
  std::vector<Token> encode(const std::string& text) const override;
  // Joins the pieces. Special pieces appear literally, as in the judged text of the ASSD authors.
  std::string decode(const std::vector<Token>& tokens) const override;
  std::string piece(Token token) const override;
  int vocabulary() const override;
  Token begin() const override { return 1; }
  Token separator() const override { return 4; }
  Token mask() const override { return 6; }

 private:
  // Throws DataError where the model that made the token has another vocabulary.
  const std::string& known(Token token) const;
  std::string file_;
  std::unique_ptr<sentencepiece::SentencePieceProcessor> processor_;
  // The pieces by id. They are kept here because the library checks its own state at every
  // question.
  std::vector<std::string> pieces_;
};

}  // namespace draftlab
