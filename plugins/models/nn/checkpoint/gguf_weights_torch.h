// The tensors of a GGUF file by the names of Hugging Face's checkpoints, for transformers of Qwen's
// and Llama's kind. Numbers are decoded to f32 when they are taken: rounding them to q8 or q4 again
// gives the numbers of the file back, and a model in f32 computes with exactly what the file says.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plugins/models/nn/checkpoint/gguf.h"

namespace draftlab {

class GgufWeights {
 public:
  // Throws DataError where the file cannot be read, holds a tensor that has no such name, or is of
  // an architecture whose tensors stand in another order than config.json's family has them.
  // `llama` says whether that family is Llama's, and `head_dim` how many rows a head has.
  GgufWeights(const std::string& path, bool llama, std::int64_t head_dim);
  bool has(const std::string& name) const { return stored_.contains(name); }
  void ignore(const std::string& name) { stored_.erase(name); }
  // Returns a copy as `type`, f32 where there is none. Throws DataError unless the tensor is there
  // and has that shape.
  at::Tensor take(const std::string& name, const std::vector<std::int64_t>& shape,
                  std::optional<at::ScalarType> type);
  // Throws DataError where the file stretches the frequencies of rotary positions otherwise than
  // config.json, which divides them by `divisors`.
  void expect_divisors(const std::vector<double>& divisors);
  // Throws DataError naming a tensor that is left.
  void expect_all_taken() const;

 private:
  GgufFile file_;
  std::int64_t head_dim_;
  // Whether queries and keys stand in pairs (llama_weights_torch.h).
  bool in_pairs_;
  // The names in the file, by those of Hugging Face.
  std::map<std::string, std::string> stored_;
};

}  // namespace draftlab
