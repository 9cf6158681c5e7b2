// The attention weights of XLNet: content and relative-position scores, masked and normalised in
// one pass over each row.
#pragma once

#include <ATen/core/Tensor.h>

namespace draftlab {

// The two products of which a score is the sum, and what the sum is multiplied by. content is [B,
// H, R, L]; relative is [H, B, R, 2L], with column c for the offset (query - key) L-1-c (the last
// is never read: an even width keeps bf16 products fast). Both are f32 or both bf16.
struct RelativeScores {
  at::Tensor content, relative;
  double scale = 1;
};

// Computes softmax_j(scale * (content[b,h,r,j] + relative[h,b,r, L-1 - positions[b,r] + j])), where
// blocked[b,r,j] subtracts 1e30 as Hugging Face does. The result [B, H, R, L] has the scores' type;
// the softmax itself is f32. It is differentiable.
at::Tensor relative_softmax(const RelativeScores& scores, const at::Tensor& positions,
                            const at::Tensor& blocked);

}  // namespace draftlab
