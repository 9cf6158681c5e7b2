#include "plugins/models/nn/checkpoint/llama_weights_torch.h"

#include <ATen/ops/empty.h>

#include <cstring>

#include "core/base/error.h"
#include "plugins/models/nn/checkpoint/safetensors.h"

namespace draftlab {

bool is_rotated(const std::string& name) {
  return name.ends_with("self_attn.q_proj.weight") || name.ends_with("self_attn.k_proj.weight") ||
         name.ends_with("self_attn.q_proj.bias") || name.ends_with("self_attn.k_proj.bias");
}

at::Tensor halves_of_pairs(const at::Tensor& rows, std::int64_t head_dim) {
  const std::int64_t columns = rows.numel() / rows.size(0);
  return rows.view({-1, head_dim / 2, 2, columns}).transpose(1, 2).contiguous().view(rows.sizes());
}

at::Tensor Llama2cWeights::take(const std::string& name, const std::vector<std::int64_t>& shape,
                                std::optional<at::ScalarType> type) const {
  const auto found = file_.tensors().find(name);
  if (found == file_.tensors().end())
    throw DataError("{}: has no tensor for '{}'", file_.path(), name);
  const Llama2cTensor& stored = found->second;
  if (stored.shape != shape)
    throw DataError("{}: tensor '{}' has shape {}, its header wants {}", file_.path(), name,
                    shape_text(stored.shape), shape_text(shape));
  at::Tensor tensor = at::empty(shape);
  std::memcpy(tensor.data_ptr(), stored.bytes.data(), stored.bytes.size());
  if (is_rotated(name)) tensor = halves_of_pairs(tensor, file_.shape().width / file_.shape().heads);
  return type ? tensor.to(*type) : tensor;
}

}  // namespace draftlab
