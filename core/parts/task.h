// The seams to data: tokenizers turn text into tokens, and tasks hand out prompts and score what
// was decoded.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/model/canvas.h"

namespace draftlab {

// Turns text into ids and back. The checkpoint decides which tokenizer is used
// (plugins/tokenizers/).
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  // Adds no special tokens, and throws DataError on invalid UTF-8.
  virtual std::vector<Token> encode(const std::string& text) const = 0;
  virtual std::string decode(const std::vector<Token>& tokens) const = 0;
  // A unique spelling of a token, for pictures.
  virtual std::string piece(Token token) const = 0;
  virtual int vocabulary() const = 0;
  // The token <s>; kNoToken where a text begins with nothing.
  virtual Token begin() const = 0;
  // The token <sep>, which stands between documents.
  virtual Token separator() const = 0;
  // The mask token; kNoToken where there is none.
  virtual Token mask() const = 0;
  // The tokens that end a text, or a turn of a conversation; the separator is one of them.
  virtual std::vector<Token> ends() const { return {separator()}; }
  // The token that stands before the first token of a document that is seen by itself.
  Token document_begin() const { return begin() == kNoToken ? separator() : begin(); }
};

// One thing to decode.
struct Prompt {
  // A stable name, which is part of every random site.
  std::string id;
  // The length of the canvas.
  int length = 0;
  // The given tokens as pairs (position, token), in ascending order.
  std::vector<std::pair<std::int32_t, Token>> given;
  // What stood on the whole canvas; empty when that is unknown.
  std::vector<Token> reference;
  // The reference as text.
  std::string text;
  // The first canvas position that is part of the text (after <s>).
  int offset = 0;
  // The tokens that end this text when they are generated, besides the model's own stops.
  std::vector<Token> ends = {};
  // The texts of which one is chosen instead of decoding: the one to which the target gives the
  // highest probability. Each stands at the masked positions from the first on, and its length
  // counts for nothing. Without choices the text is decoded.
  std::vector<std::vector<Token>> choices = {};
};

struct Score {
  // A name in lower_case, which becomes the column sample_score_NAME.
  std::string name;
  double value = 0;
};

class Task {
 public:
  virtual ~Task() = default;
  // Reads its data, and throws DataError when it cannot. `tokenizer` is null for models without
  // text.
  virtual void load(const Tokenizer* tokenizer) = 0;
  virtual int size() const = 0;
  virtual Prompt prompt(int index) const = 0;
  virtual std::vector<Score> score(const Prompt& prompt, const Canvas& canvas) const = 0;
  // The decoded text that a judge scores; "" where there is none.
  virtual std::string text(const Prompt& prompt, const Canvas& canvas) const = 0;
  // The digest of the data that was read.
  virtual std::string digest() const { return {}; }
};

}  // namespace draftlab
