// Chooses the growth that comes nearest to the wanted number of parameters, and has it written.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/files.h"
#include "plugins/models/nn/checkpoint/config_file.h"
#include "plugins/models/nn/checkpoint/gguf.h"
#include "plugins/models/nn/checkpoint/llama2c.h"
#include "plugins/models/nn/checkpoint/origin.h"
#include "plugins/models/nn/checkpoint/weights_torch.h"
#include "plugins/models/widen/families_torch.h"
#include "plugins/models/widen/widen.h"
#include "plugins/tokenizers/tokenizer.h"

namespace draftlab {
namespace {

// The inner width is a multiple of this, as the kernels' panels are.
constexpr std::int64_t kInnerStep = 16;

Widening widening_of(const std::string& folder) {
  if (is_llama2c(folder)) return widen_transformer(folder);
  const std::string family = ConfigFile::in(folder).family();
  if (family == "xlnet") return widen_xlnet(folder);
  if (family == "mar") return widen_mar(folder);
  return widen_transformer(folder);
}

// Doubles width, heads and inner width while that stays near what is wanted (an inner width that is
// free can shrink by a good part of it), then appends layers below it, and then lets the inner
// width make up the rest.
Growth growth_for(const Widening& widening, std::int64_t wanted) {
  Growth growth{1, 0, widening.inner};
  const auto wide = [&](std::int64_t copies) { return Growth{copies, 0, copies * widening.inner}; };
  const std::int64_t most = wanted + wanted / (widening.inner_is_free ? 4 : 10);
  while (widening.count(wide(2 * growth.copies)) <= most) growth = wide(2 * growth.copies);
  Growth deeper = growth;
  for (++deeper.layers; widening.count(deeper) <= wanted; ++deeper.layers) growth = deeper;
  if (!widening.inner_is_free) return growth;
  Growth more = growth;
  more.inner += kInnerStep;
  const auto each = static_cast<double>(widening.count(more) - widening.count(growth)),
             missing = static_cast<double>(wanted - widening.count(growth));
  growth.inner += kInnerStep * std::llround(missing / each);
  growth.inner = std::max(growth.inner, widening.inner);
  return growth;
}

}  // namespace

at::Tensor padded(const at::Tensor& tensor, std::int64_t dim, std::int64_t size) {
  std::vector<std::int64_t> shape = tensor.sizes().vec();
  shape[dim] = size - shape[dim];
  return at::cat({tensor, at::zeros(shape, tensor.options())}, dim);
}

at::Tensor repeated(const at::Tensor& tensor, std::int64_t dim, std::int64_t size) {
  const std::int64_t have = tensor.size(dim);
  const std::vector<at::Tensor> copies((size + have - 1) / have, tensor);
  return at::cat(copies, dim).narrow(dim, 0, size).contiguous();
}

bool stored_as_bf16(const std::string& file) {
  if (is_gguf(file) || is_llama2c(file)) return false;
  const SafetensorsFile stored(file);
  return std::all_of(stored.tensors().begin(), stored.tensors().end(),
                     [](const auto& tensor) { return tensor.second.type == ElementType::bf16; });
}

}  // namespace draftlab

void draftlab_widen(const draftlab::WidenJob* job, draftlab::Widened* widened) {
  using namespace draftlab;
  const at::NoGradGuard no_grad;
  const Widening widening = widening_of(job->checkpoint);
  if (job->parameters < widening.parameters) {
    throw UsageError("--parameters {} is fewer than the {} that '{}' has; a checkpoint only grows",
                     job->parameters, widening.parameters, job->checkpoint);
  }
  const Growth growth = growth_for(widening, job->parameters);
  make_folder(job->out);
  // A tokenizer may have a say in config.json, which is then written over.
  if (has_tokenizer(job->checkpoint)) copy_tokenizer(job->checkpoint, job->out);
  widening.write(growth, job->out);
  write_origin(job->out, {widening.parameters, weights_digest(job->checkpoint)});
  *widened = {widening.parameters, widening.count(growth), growth.copies,
              growth.layers,       growth.inner,           widening.exact(growth)};
}
