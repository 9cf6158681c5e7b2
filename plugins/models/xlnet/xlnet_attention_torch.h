// The attention weights of XLNet: content and relative-position scores, masked and normalised in
// one pass over each row.
#pragma once

#include <ATen/core/Tensor.h>

namespace draftlab {

// softmax_j(scale * (content[b,h,r,j] + relative[b,h,r, L-1 - positions[b,r] + j])), where
// blocked[b,r,j] subtracts 1e30 as Hugging Face does. content [B, H, R, L]; relative [H, B, R, 2L],
// column c for the offset (query - key) L-1-c (the last is never read: an even width keeps bf16
// products fast). Both f32 or both bf16, and so is the result [B, H, R, L]; the softmax itself is
// f32. Differentiable.
at::Tensor relative_softmax(const at::Tensor& content, const at::Tensor& relative,
                            const at::Tensor& positions, const at::Tensor& blocked, double scale);

}  // namespace draftlab
