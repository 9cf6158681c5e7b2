// Relative attention of both streams at once, for training: softmax((qw K^T + shifted(qr R^T)) /
// sqrt(dh)) V, with the lattice mask given as ranks instead of a matrix. Forward and backward each
// fuse shift, mask and softmax into one pass over the scores.
#pragma once

#include <ATen/core/Tensor.h>

namespace draftlab {

// Queries plus r_w_bias and plus r_r_bias, [H, B, R, dh]. Row r stands at position r % L: R is L,
// or 2 L (content rows, then query rows).
struct StreamQueries {
  at::Tensor content, relative;
};

// Keys and values, [H, B, L, dh]. In `relative` [H, 2 L - 1, dh], row L - 1 - (i - j) is the key of
// position i looking at j.
struct StreamKeys {
  at::Tensor keys, values, relative;
};

// Ranks [B, L] and limits [B, R], int32: row r sees key j where rank[j] < limit[r]. It sees at
// least one.
struct StreamRanks {
  at::Tensor rank, limit;
};

// Returns [H, B, R, dh]. All floating tensors are f32, or all are bf16 (scores are f32 inside the
// pass).
at::Tensor two_stream_attention(const StreamQueries& q, const StreamKeys& k,
                                const StreamRanks& ranks);

}  // namespace draftlab
