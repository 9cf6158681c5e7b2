// Prediction heads of blockwise parallel decoding (Stern et al., 2018, Sec. 4, as their code has
// it): one ReLU layer of width k times filter over the last hidden state, one projection to k
// hidden states, each added to the one it came from, and the vocabulary's projection shared by all.
// Head 1 passes through it, too: it tells the next token, head i the one i - 1 further.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace draftlab {

struct PredictionHeads {
  std::int64_t count = 0;            // k; 0: there are none
  at::Tensor hidden, hidden_bias;    // [k filter, d], [k filter]
  at::Tensor project, project_bias;  // [k d, k filter], [k d]

  std::int64_t filter() const { return hidden.size(0) / count; }
  // N(0, spread), the projection zero: every head begins as the base's own.
  static PredictionHeads random(std::int64_t count, std::int64_t filter, std::int64_t width,
                                std::uint64_t seed, double spread);
  static bool stored(const std::string& folder);
  static std::string digest(const std::string& folder);
  // FOLDER/heads.safetensors, for a base of hidden width `width` whose weights have the digest
  // `base`. DataError when it is misshapen, or was made for another base.
  static PredictionHeads load(const std::string& folder, std::int64_t width,
                              const std::string& base);
  void save(const std::string& folder, bool bf16, const std::string& base) const;
  std::vector<std::pair<std::string, at::Tensor>> named_parameters()
      const;  // handles; none without heads
  // The hidden states of heads [first, first + count) over h [..., d]: [..., count, d].
  at::Tensor states(const at::Tensor& h, std::int64_t first, std::int64_t count, bool bf16) const;
};

}  // namespace draftlab
