// The functions of the torch module that benchmarks call: the shapes of a checkpoint, and how fast
// this machine multiplies.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>

#include <algorithm>
#include <chrono>

#include "plugins/models/bench/machine_speed.h"
#include "plugins/models/bench/random_checkpoint.h"
#include "plugins/models/mar/mar_network_torch.h"
#include "plugins/models/nn/checkpoint/config_file.h"
#include "plugins/models/nn/kernels/machine_torch.h"
#include "plugins/models/nn/kernels/row_linear_torch.h"
#include "plugins/models/nn/transformer/transformer_torch.h"
#include "plugins/models/xlnet/xlnet_torch.h"

namespace draftlab {
namespace {

template <class Work>
double best_seconds(int times, const Work& work) {
  double best = 1e30;
  for (int i = 0; i < times; ++i) {
    const auto began = std::chrono::steady_clock::now();
    work();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  }
  return best;
}

}  // namespace
}  // namespace draftlab

void draftlab_checkpoint_shapes(const std::string* folder, draftlab::TensorShapes* shapes) {
  using namespace draftlab;
  const std::string family = ConfigFile::in(*folder).family();
  const auto tensors =
      family == "xlnet" ? Xlnet::hollow(XlnetConfig::read(*folder)).named_parameters()
      : family == "mar" ? Mar::hollow(MarConfig::read(*folder)).named_parameters
                        : Transformer::hollow(TransformerConfig::read(*folder)).stored_tensors();
  for (const auto& [name, tensor] : tensors) shapes->emplace_back(name, tensor.sizes().vec());
}

void draftlab_product_speed(bool bf16, int threads, double* library, double* own) {
  using namespace draftlab;
  constexpr std::int64_t kSize = 4096, kRows = 1024;
  const at::NoGradGuard no_grad;
  use_all_threads(threads);
  const at::Tensor weight = at::ones({kSize, kSize}, bf16 ? at::kBFloat16 : at::kFloat),
                   rows = at::ones({kRows, kSize}, weight.options());
  constexpr double kOperations = 2.0 * kRows * kSize * kSize;
  *library = kOperations / best_seconds(5, [&] { at::mm(rows, weight); });
  const RowLinear linear(weight, {}, bf16 ? Precision::bf16 : Precision::f32);
  const at::Tensor x = at::ones({kRows, kSize}), y = at::empty({kRows, kSize});
  *own = kOperations /
         best_seconds(5, [&] { linear.apply(x.data_ptr<float>(), kRows, y.data_ptr<float>()); });
}
