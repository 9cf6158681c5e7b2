// The seams to data: what turns text into tokens, and what hands out prompts and scores what was
// decoded.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/parts/canvas.h"

namespace draftlab {

// Text to ids and back. Chosen by the checkpoint (plugins/tokenizers/).
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual std::vector<Token> encode(
      const std::string& text) const = 0;  // no special tokens; DataError on invalid UTF-8
  virtual std::string decode(const std::vector<Token>& tokens) const = 0;
  virtual std::string piece(Token token) const = 0;  // for pictures; unique
  virtual int vocabulary() const = 0;
  virtual Token begin() const = 0;      // <s>; kNoToken where a text begins with nothing
  virtual Token separator() const = 0;  // <sep>, between documents
  virtual Token mask() const = 0;       // kNoToken where there is none
  // What ends a text, or a turn of a conversation; the separator is one of them.
  virtual std::vector<Token> ends() const { return {separator()}; }
  // What stands before the first token of a document that is seen by itself.
  Token document_begin() const { return begin() == kNoToken ? separator() : begin(); }
};

// One thing to decode.
struct Prompt {
  std::string id;                                     // stable name; part of every random site
  int length = 0;                                     // of the canvas
  std::vector<std::pair<std::int32_t, Token>> given;  // (position, token), ascending
  std::vector<Token> reference;  // what stood there, whole canvas; empty when unknown
  std::string text;              // the reference as text
  int offset = 0;                // first canvas position that is part of the text (after <s>)
  std::vector<Token> ends =
      {};  // what ends this text when it is generated, besides the model's own stops
  // Texts of which one is chosen instead of decoding: that to which the target gives the highest
  // probability. Each stands at the masked positions from the first on, and its length counts for
  // nothing. None: the text is decoded.
  std::vector<std::vector<Token>> choices = {};
};

struct Score {
  std::string name;  // lower_case; becomes the column sample_score_NAME
  double value = 0;
};

class Task {
 public:
  virtual ~Task() = default;
  // Reads its data; DataError when it cannot. `tokenizer` is null for models without text.
  virtual void load(const Tokenizer* tokenizer) = 0;
  virtual int size() const = 0;
  virtual Prompt prompt(int index) const = 0;
  virtual std::vector<Score> score(const Prompt& prompt, const Canvas& canvas) const = 0;
  // The decoded text that a judge scores; "" where there is none.
  virtual std::string text(const Prompt& prompt, const Canvas& canvas) const = 0;
  virtual std::string digest() const { return {}; }  // of the data that was read
};

}  // namespace draftlab
