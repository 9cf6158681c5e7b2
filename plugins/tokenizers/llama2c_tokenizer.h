// The vocabulary of llama2.c's files: pieces with scores, as sentencepiece's byte-pair models have
// them. Neighbours are merged by the best score; a character without a piece becomes its bytes.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "core/parts/task.h"

namespace draftlab {

class Llama2cTokenizer final : public Tokenizer {
 public:
  // Reads the longest length (int32), then for each piece its score (f32), length (int32) and
  // bytes. Ids 0, 1 and 2 are unknown, begin and end, and 3 to 258 are the bytes. Throws DataError
  // naming the file where it is anything else.
  explicit Llama2cTokenizer(const std::string& file);
  // A text that is not empty gets a space in front, as this vocabulary's models were trained.
  std::vector<Token> encode(const std::string& text) const override;
  // A text begins without the space that encoding puts there. Bytes that are not UTF-8 become
  // U+FFFD.
  std::string decode(const std::vector<Token>& tokens) const override;
  std::string piece(Token token) const override { return known(token).text; }
  int vocabulary() const override { return static_cast<int>(pieces_.size()); }
  Token begin() const override { return 1; }
  // A text is followed by the begin of the next, and by no end.
  Token separator() const override { return begin(); }
  Token mask() const override { return kNoToken; }

 private:
  struct Piece {
    std::string text;
    float score = 0;
  };
  void add_character(const std::string& character, std::vector<Token>& tokens) const;
  // Returns the token of two neighbours' joined text, and kNoToken where there is none.
  Token merged(Token left, Token right) const;
  // Throws DataError where the model that made the token has another vocabulary.
  const Piece& known(Token token) const;
  std::string file_;
  std::vector<Piece> pieces_;
  // The first id of each text.
  std::unordered_map<std::string, Token> ids_;
};

// Returns the number of tokens in the header of a model's file, which names its vocabulary. Throws
// DataError where it cannot be read.
int llama2c_vocabulary(const std::string& model);

}  // namespace draftlab
