#include "plugins/models/nn/checkpoint/gguf_weights_torch.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "plugins/models/nn/checkpoint/mapped_file.h"
#include "plugins/models/nn/checkpoint/safetensors.h"

namespace draftlab {
namespace {

// llama's own queries and keys are stored with the halves of a rotation interleaved.
constexpr std::array<const char*, 3> kArchitectures = {"qwen2", "qwen3", "dream"};

}  // namespace

GgufWeights::GgufWeights(const std::string& path) : file_(path) {
  if (std::find(kArchitectures.begin(), kArchitectures.end(), file_.architecture()) ==
      kArchitectures.end())
    throw DataError("{}: general.architecture is '{}'; files of qwen2, qwen3 and dream are read",
                    path, file_.architecture().substr(0, 60));
  for (const auto& [gguf, tensor] : file_.tensors()) {
    const std::string name = name_of_gguf_tensor(gguf);
    if (name.empty())
      throw DataError("{}: holds a tensor '{}' that a transformer of Qwen's kind does not have",
                      path, gguf.substr(0, 60));
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
  const at::Tensor decoded = at::empty(shape);
  decode(stored, decoded.data_ptr<float>());
  release_pages(stored.bytes);
  stored_.erase(found);
  return type ? decoded.to(*type) : decoded;
}

void GgufWeights::expect_all_taken() const {
  if (stored_.empty()) return;
  const std::string& name = stored_.begin()->second;
  throw DataError(
      "{}: holds a tensor '{}' of shape {} that a network of its config.json does not have",
      file_.path(), name, shape_text(file_.tensors().at(name).shape));
}

}  // namespace draftlab
