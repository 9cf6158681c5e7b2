// The seams to data: what turns text into tokens, and what hands out prompts and scores what was decoded.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/canvas.h"

namespace draftlab {

// Text to ids and back. Chosen by the checkpoint (plugins/tokenizers/).
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual std::vector<Token> encode(const std::string& text) const = 0;  // no special tokens; DataError on invalid UTF-8
  virtual std::string decode(const std::vector<Token>& tokens) const = 0;
  virtual std::string piece(Token token) const = 0;                      // for pictures; unique
  virtual int vocabulary() const = 0;
  virtual Token begin() const = 0;      // <s>
  virtual Token separator() const = 0;  // <sep>, between documents
  virtual Token mask() const = 0;
};

// One thing to decode.
struct Prompt {
  std::string id;                                         // stable name; part of every random site
  int length = 0;                                         // of the canvas
  std::vector<std::pair<std::int32_t, Token>> given;      // (position, token), ascending
  std::vector<Token> reference;                           // what stood there, whole canvas; empty when unknown
  std::string text;                                       // the reference as text
  int offset = 0;                                         // first canvas position that is part of the text (after <s>)
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
