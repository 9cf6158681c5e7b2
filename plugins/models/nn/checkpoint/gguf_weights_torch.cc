#include "plugins/models/nn/checkpoint/gguf_weights_torch.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.h"
#include "plugins/models/nn/checkpoint/llama_weights_torch.h"
#include "plugins/models/nn/checkpoint/mapped_file.h"
#include "plugins/models/nn/checkpoint/safetensors.h"

namespace draftlab {
namespace {

constexpr std::array<const char*, 4> kArchitectures = {"qwen2", "qwen3", "dream", "llama"};

}  // namespace

GgufWeights::GgufWeights(const std::string& path, bool llama, std::int64_t head_dim)
    : file_(path), head_dim_(head_dim), in_pairs_(file_.architecture() == "llama") {
  if (std::find(kArchitectures.begin(), kArchitectures.end(), file_.architecture()) ==
      kArchitectures.end())
    throw DataError(
        "{}: general.architecture is '{}'; files of qwen2, qwen3, dream and llama are read", path,
        file_.architecture().substr(0, 60));
  if (llama != in_pairs_)
    throw DataError("{}: general.architecture is '{}', and config.json is of another family", path,
                    file_.architecture());
  for (const auto& [gguf, tensor] : file_.tensors()) {
    const std::string name = name_of_gguf_tensor(gguf);
    if (name.empty())
      throw DataError("{}: holds a tensor '{}' that a transformer of this kind does not have", path,
                      gguf.substr(0, 60));
    stored_[name] = gguf;
  }
}

at::Tensor GgufWeights::take(const std::string& name, const std::vector<std::int64_t>& shape,
                             std::optional<at::ScalarType> type) {
  const auto found = stored_.find(name);
  if (found == stored_.end())
    throw DataError("{}: has no tensor for '{}', config.json wants one of shape {}", file_.path(),
                    name, shape_text(shape));
  const GgufTensor& stored = file_.tensors().at(found->second);
  if (stored.shape != shape)
    throw DataError("{}: tensor '{}' has shape {}, config.json wants {}", file_.path(),
                    found->second, shape_text(stored.shape), shape_text(shape));
  at::Tensor decoded = at::empty(shape);
  decode(stored, decoded.data_ptr<float>());
  release_pages(stored.bytes);
  stored_.erase(found);
  if (in_pairs_ && is_rotated(name)) decoded = halves_of_pairs(decoded, head_dim_);
  return type ? decoded.to(*type) : decoded;
}

void GgufWeights::expect_divisors(const std::vector<double>& divisors) {
  if (!has(kRopeDivisors)) return;
  const at::Tensor stored =
      take(kRopeDivisors, {static_cast<std::int64_t>(divisors.size())}, std::nullopt);
  for (std::size_t i = 0; i < divisors.size(); ++i) {
    const double own = stored.data_ptr<float>()[i];
    if (!(std::abs(own - divisors[i]) <= 1e-4 * divisors[i]))
      throw DataError(
          "{}: 'rope_freqs.weight' divides frequency {} by {}, and the 'rope_scaling' of "
          "config.json by {}",
          file_.path(), i, own, divisors[i]);
  }
}

void GgufWeights::expect_all_taken() const {
  if (stored_.empty()) return;
  const std::string& name = stored_.begin()->second;
  throw DataError(
      "{}: holds a tensor '{}' of shape {} that a network of its config.json does not have",
      file_.path(), name, shape_text(file_.tensors().at(name).shape));
}

}  // namespace draftlab
