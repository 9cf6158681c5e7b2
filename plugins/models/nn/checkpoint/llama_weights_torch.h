// The tensors of a Llama whose queries and keys stand in another order of rows than in Hugging
// Face's checkpoints: there the first half of a head's rows turns with the second, in files of
// llama2.c and in GGUF each row with its neighbour.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "plugins/models/nn/checkpoint/llama2c.h"

namespace draftlab {

// Says whether a tensor, by its name in Hugging Face's checkpoints, has rows that are rotated.
bool is_rotated(const std::string& name);

// Returns the tensor with each head's rows sorted: the first of all pairs, then the second.
at::Tensor halves_of_pairs(const at::Tensor& rows, std::int64_t head_dim);

// The tensors of a file of llama2.c by the names of Hugging Face's checkpoints.
class Llama2cWeights {
 public:
  explicit Llama2cWeights(const std::string& path) : file_(path) {}
  bool has(const std::string& name) const { return file_.tensors().contains(name); }
  // Nothing is left out of such a file, so nothing need be ignored.
  void ignore(const std::string&) {}
  // Returns a copy as `type`, f32 where there is none.
  at::Tensor take(const std::string& name, const std::vector<std::int64_t>& shape,
                  std::optional<at::ScalarType> type) const;

 private:
  Llama2cFile file_;
};

}  // namespace draftlab
