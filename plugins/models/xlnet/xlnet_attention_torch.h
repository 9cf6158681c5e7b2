// The attention weights of XLNet: content and relative-position scores, masked and normalised in
// one pass over each row.
#pragma once

#include <ATen/core/Tensor.h>

namespace draftlab {

// Computes softmax_j(scale * (content[b,h,r,j] + relative[b,h,r, L-1 - positions[b,r] + j])), where
// blocked[b,r,j] subtracts 1e30 as Hugging Face does. content is [B, H, R, L]; relative is [B, H,
// R, 2L], with column c for the offset (query - key) L-1-c (the last is never read: an even width
// keeps bf16 products fast). Both are f32 or both bf16, and so is the result [B, H, R, L]; the
// softmax itself is f32. It is differentiable.
at::Tensor relative_softmax(const at::Tensor& content, const at::Tensor& relative,
                            const at::Tensor& positions, const at::Tensor& blocked, double scale);

}  // namespace draftlab
