// The seams to data: tokenizers turn text into tokens, and tasks hand out prompts and score what
// was decoded.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/model/canvas.h"

namespace draftlab {

// Turns text into ids and back. The checkpoint decides which tokenizer is used
// (plugins/tokenizers/). All methods are const and depend on their arguments alone. One tokenizer
// serves all arms of a checkpoint, in one thread.
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

// The spelling of a token; "" where there is no tokenizer, or one that does not know the token.
std::string piece_of(const Tokenizer* tokenizer, Token token);

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

// A task decodes text and its model has no tokenizer. It has a type of its own because a command
// that has found no checkpoint need not say this, too.
struct NoTokenizer : ConfigError {
  explicit NoTokenizer(const std::string& task);
};

// One object serves all arms of equal options and one checkpoint, in one thread. Its owner is
// whoever made it, and the tokenizer outlives it. What it returns belongs to the caller; what it is
// given lives as long as the call. Exceptions are as in core/parts/part.h, in every method.
class Task {
 public:
  virtual ~Task() = default;
  // Reads its data. It is called before every other method, and may be called again, which begins
  // anew. `tokenizer` is null for models without text. Throws NoTokenizer where one is needed,
  // ConfigError where the options do not fit together, and DataError when the data cannot be read.
  virtual void load(const Tokenizer* tokenizer) = 0;
  // The number of prompts, which does not change.
  virtual int size() const = 0;
  // A prompt, 0 <= index < size(): the same each time, for arms are compared prompt by prompt. Its
  // given positions are on the canvas, each once, and tokens are not negative.
  virtual Prompt prompt(int index) const = 0;
  // The scores of a decoded canvas, which may hold masks where decoding ended early. Each has a
  // name of its own and is finite, or NaN where there is nothing to score.
  virtual std::vector<Score> score(const Prompt& prompt, const Canvas& canvas) const = 0;
  // The decoded text that a judge scores; "" where there is none.
  virtual std::string text(const Prompt& prompt, const Canvas& canvas) const = 0;
  // The digest of the data that was read; equal data have equal digests.
  virtual std::string digest() const { return {}; }
};

}  // namespace draftlab
