// The keys of a layer that reads its own states pass after pass, as a draft head does while it is
// trained (the training-time test of EAGLE-3, Li et al., 2025).
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace draftlab {

// Row r of pass i (from 0) is the i-th draft behind rows that are committed: its token stands at r,
// and it sees rows [0, r - i] as pass 0 left them, then of each pass j from 1 to i the row r - i +
// j. So it sees what the layer sees when it drafts.
class PassKeys {
 public:
  struct Pair {
    // The shapes are [n, G, R, dh].
    at::Tensor key, value;
  };
  // Attends by the queries of the next pass, [n, H, R, dh], and remembers its keys and values. In
  // pass 0 row r sees the rows that `seen` states (interval_attention), which begin with the first.
  at::Tensor attend(const at::Tensor& q, Pair own, const at::Tensor& seen);

 private:
  std::vector<Pair> passes_;
};

}  // namespace draftlab
