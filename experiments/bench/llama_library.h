// llama.cpp's library, opened while the program runs, so that a benchmark measures it beside our
// own products. Nothing of it is needed to build.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/prob/types.h"

namespace draftlab {

class LlamaLibrary;

// A model of llama.cpp with the cache of one sequence, on one thread.
class LlamaModel {
 public:
  // Reads a GGUF file. Throws DataError where llama.cpp does not.
  LlamaModel(const LlamaLibrary& library, const std::string& path);
  ~LlamaModel();
  LlamaModel(const LlamaModel&) = delete;
  LlamaModel& operator=(const LlamaModel&) = delete;

  // The tokens that a sequence can have.
  std::int64_t room() const;
  // Appends the tokens at positions `first` and behind it, and keeps the logits of each.
  void append(std::int32_t first, std::span<const Token> tokens);
  // Forgets what stands at position `first` and behind it.
  void forget(std::int32_t first);
  // The logits of row `row` of what was appended last. They are valid until the next call.
  const float* logits(std::int32_t row) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class LlamaLibrary {
 public:
  // Opens a file such as libllama.so; its backends are looked for beside it. Throws ConfigError
  // where it cannot be opened, has not the functions that are called, or is of another version
  // than those whose functions are known.
  explicit LlamaLibrary(const std::string& path);
  ~LlamaLibrary();

  // The version, and what the library uses of the processor.
  std::string description() const;

 private:
  friend class LlamaModel;
  struct Functions;
  std::unique_ptr<const Functions> call_;
};

}  // namespace draftlab
