#include "plugins/models/nn/transformer/pass_keys_torch.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <utility>

#include "plugins/models/nn/kernels/decoder_kernels_torch.h"

namespace draftlab {
namespace {

// Moves [n, G, R, dh] so many rows on; the first rows are zeros.
at::Tensor rows_on(const at::Tensor& x, std::int64_t rows) {
  if (rows == 0) return x;
  rows = std::min(rows, x.size(2));
  const std::int64_t kept = x.size(2) - rows;
  return at::cat({at::zeros_like(x.narrow(2, 0, rows)), x.narrow(2, 0, kept)}, 2);
}

}  // namespace

at::Tensor PassKeys::attend(const at::Tensor& q, Pair own, const at::Tensor& seen) {
  passes_.push_back(std::move(own));
  const auto pass = static_cast<std::int64_t>(passes_.size()) - 1;
  const Pair& first = passes_.front();
  if (pass == 0) return interval_attention(q, first.key, first.value, seen);
  const std::int64_t rows = first.key.size(2);
  std::vector<at::Tensor> keys, values;
  for (std::int64_t j = 1; j <= pass; ++j) {
    keys.push_back(rows_on(passes_[j].key, pass - j));
    values.push_back(rows_on(passes_[j].value, pass - j));
  }
  // The keys that one row sees of the later passes stand below one another.
  const auto behind = [&](const at::Tensor& base, const std::vector<at::Tensor>& later) {
    return at::cat({base, at::stack(later, 3).flatten(2, 3)}, 2).contiguous();
  };
  const at::Tensor from = at::arange(rows, seen.options()) * pass + rows;
  const at::Tensor both =
      at::stack({(seen.select(2, 0) - pass).clamp_min(0), from.expand_as(seen.select(2, 0)),
                 (from + pass).expand_as(seen.select(2, 0))},
                2)
          .contiguous();
  return interval_attention(q, behind(first.key, keys), behind(first.value, values), both);
}

}  // namespace draftlab
