// The transformer's full forward in fused kernels, differentiable. Trainers use it.
#pragma once

#include <ATen/core/Tensor.h>

#include "plugins/models/transformer/transformer_torch.h"

namespace draftlab {

// The rows of n canvases. Row r of a canvas sees its rows [0, a) and [b, c), given as `seen`.
struct TrainingRows {
  // The shape is [n, R], int64.
  at::Tensor ids;
  // The shape is [n, R], int64.
  at::Tensor position;
  // The shape is [n, R, 3], int32.
  at::Tensor seen;
};

// Returns the hidden states after the final norm, [n, R - skipped, d] f32, of all rows but the
// first `skipped`, whose last output nobody needs. With `bf16`, matrix products are in bf16; norms
// and residuals stay f32. With an encoder, `source` holds its rows; row r of a canvas then sees the
// rows of the source that `source_seen` [n, R, 3] names. GPT-2's line cannot be trained here and
// throws DataError.
at::Tensor training_hidden(const Transformer& net, const TrainingRows& rows, std::int64_t skipped,
                           bool bf16, const TrainingRows& source = {},
                           const at::Tensor& source_seen = {});

}  // namespace draftlab
