// The transformer's full forward in fused kernels, differentiable: what trainers go through.
#pragma once

#include <ATen/core/Tensor.h>

#include "plugins/models/transformer/transformer_torch.h"

namespace draftlab {

// Rows of n canvases. Row r of a canvas sees its rows [0, a) and [b, c), given as `seen`.
struct TrainingRows {
  at::Tensor ids;       // [n, R] int64
  at::Tensor position;  // [n, R] int64
  at::Tensor seen;      // [n, R, 3] int32
};

// Hidden states after the final norm, [n, R - skipped, d] f32, of all rows but the first `skipped`,
// whose last output nobody needs. `bf16`: matrix products in bf16; norms and residuals stay f32.
// With an encoder, `source` holds its rows; row r of a canvas then sees the rows of the source that
// `source_seen` [n, R, 3] names. GPT-2's line is not trained here: DataError.
at::Tensor training_hidden(const Transformer& net, const TrainingRows& rows, std::int64_t skipped,
                           bool bf16, const TrainingRows& source = {},
                           const at::Tensor& source_seen = {});

}  // namespace draftlab
