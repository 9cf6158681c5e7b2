// Opens, copies and trains tokenizers. A tokenizer is one or several files in the folder of the
// checkpoint that was trained with it. The sentencepiece library is reached through a module of its
// own (sentencepiece.cc), because its copy of protobuf and the one that torch loads must not see
// each other.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/parts/task.h"

namespace draftlab {

// Reads the first of these that a checkpoint's folder has: spiece.model, a sentencepiece model with
// XLNet's special pieces at 0 to 8; levels.json, numbers in order (levels.h); tokenizer.json,
// byte-level BPE; vocab.json and merges.txt, the same (tokenizer_json.h); tokenizer.bin, a
// vocabulary of llama2.c (llama2c_tokenizer.h). tokenizer_config.json, config.json and
// generation_config.json say what begins and ends a text. Where the checkpoint is a file of
// llama2.c of N tokens, tokN.bin or tokenizer.bin beside it is read; another file of 256 tokens has
// its bytes for tokens (bytes.h). Throws DataError when there is none, or one that cannot be read.
std::unique_ptr<Tokenizer> open_tokenizer(const std::string& checkpoint);
bool has_tokenizer(const std::string& checkpoint);
// Says which files were looked for where a checkpoint has no tokenizer.
std::string missing_tokenizer(const std::string& checkpoint);
// Returns a digest of the tokenizer's files, and "" where there is none.
std::string tokenizer_digest(const std::string& checkpoint);

// Copies the tokenizer's files, and does nothing when both folders are the same. Throws OutputError
// when it cannot.
void copy_tokenizer(const std::string& from, const std::string& to);

// What the vocabulary of a sentencepiece unigram model is to be.
struct UnigramVocabulary {
  std::int64_t pieces = 1000;  // The most of them.
  double coverage = 0.9995;    // The share of characters that become pieces.
  std::string required;        // Characters that become pieces in any case.
  bool split_digits = false;   // Every digit becomes a piece of its own.
};

// Trains such a model on `lines` and returns the bytes of its file. Throws DataError when the lines
// do not suffice.
std::string train_tokenizer(const std::vector<std::string>& lines,
                            const UnigramVocabulary& vocabulary);

}  // namespace draftlab
