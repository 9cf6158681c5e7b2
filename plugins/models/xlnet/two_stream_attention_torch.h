// Relative attention of both streams at once, for training: softmax((qw K^T + shifted(qr R^T)) /
// sqrt(dh)) V, with the lattice mask given as ranks instead of a matrix. Forward and backward each
// fuse shift, mask and softmax into one pass over the scores.
#pragma once

#include <ATen/core/Tensor.h>

namespace draftlab {

// qw and qr [H, B, R, dh] are queries plus r_w_bias and plus r_r_bias; row r stands at position r %
// L (R is L, or 2 L: content rows, then query rows). k and v are [H, B, L, dh]. In r [H, 2 L - 1,
// dh], row L - 1 - (i - j) is the relative key of position i looking at j. rank [B, L] and limit
// [B, R] are int32: row r sees key j where rank[j] < limit[r]; it sees at least one. Returns [H, B,
// R, dh]. All floating tensors are f32, or all are bf16 (scores are f32 inside the pass).
at::Tensor two_stream_attention(const at::Tensor& qw, const at::Tensor& qr, const at::Tensor& k,
                                const at::Tensor& v, const at::Tensor& r, const at::Tensor& rank,
                                const at::Tensor& limit);

}  // namespace draftlab
