#include "plugins/models/mar/diffusion_head_rows_torch.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>

#include "plugins/models/mar/device_diffusion_head_torch.h"
#include "plugins/models/nn/kernels/machine_torch.h"
#include "plugins/models/nn/kernels/rows/lanes.h"

namespace draftlab {
namespace {

RowLinear packed(const Linear& linear, Precision precision) {
  return RowLinear(linear.weight.detach(), linear.bias.detach(), precision);
}

std::vector<float> floats_of(const at::Tensor& tensor) {
  const at::Tensor copy = tensor.detach().to(at::kFloat).contiguous();
  return {copy.data_ptr<float>(), copy.data_ptr<float>() + copy.numel()};
}

}  // namespace

DiffusionHeadRows::DiffusionHeadRows(DiffusionHeadRows&&) noexcept = default;
DiffusionHeadRows::~DiffusionHeadRows() = default;

DiffusionHeadRows::DiffusionHeadRows(const DiffusionHead& head, std::span<const int> timesteps,
                                     Precision precision, std::optional<at::Device> tensors)
    : width_(head.width), outputs_(head.output.weight.size(0)) {
  const at::NoGradGuard no_grad;
  if (tensors) {
    elsewhere_ =
        std::make_unique<DeviceDiffusionHead>(head, timesteps, tensor_options(*tensors, precision));
    return;
  }
  condition_ = packed(head.condition, precision);
  input_ = packed(head.input, precision);
  output_ = packed(head.output, precision);
  output_modulation_ = packed(head.output_modulation, precision);
  time_ = floats_of(head.time(
      at::tensor(std::vector<std::int64_t>(timesteps.begin(), timesteps.end()), at::kLong)));
  for (const DiffusionHeadBlock& block : head.blocks) {
    blocks_.push_back({floats_of(block.norm.weight), floats_of(block.norm.bias),
                       packed(block.up, precision), packed(block.down, precision),
                       packed(block.modulation, precision)});
  }
}

std::vector<float> DiffusionHeadRows::forward(const std::vector<float>& x,
                                              const std::vector<float>& z,
                                              std::span<const int> steps) const {
  if (elsewhere_) return elsewhere_->forward(x, z, steps);
  const auto rows = static_cast<std::int64_t>(steps.size()), w = width_;
  std::vector<float> h(rows * w), y(rows * w), inside(rows * w), wide(rows * w),
      modulation(rows * 3 * w), out(rows * outputs_);
  input_.apply(x.data(), rows, h.data());
  condition_.apply(z.data(), rows, y.data());
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* const time = time_.data() + steps[i] * w;
    for (std::int64_t j = 0; j < w; ++j) y[i * w + j] = silu(y[i * w + j] + time[j]);
  }
  // Computes inside = norm(h) (1 + scale) + shift, from rows of modulation that are `parts` w long.
  const auto modulated = [&](std::int64_t parts, const float* weight, const float* bias) {
    for (std::int64_t i = 0; i < rows; ++i) {
      float* const to = inside.data() + i * w;
      const float* const shift = modulation.data() + i * parts * w;
      layer_norm({w, kHeadNormEpsilon, weight, bias}, h.data() + i * w, to);
      for (std::int64_t j = 0; j < w; ++j) to[j] = to[j] * (1 + shift[w + j]) + shift[j];
    }
  };
  for (const Block& block : blocks_) {
    block.modulation.apply(y.data(), rows, modulation.data());
    modulated(3, block.norm.data(), block.norm_bias.data());
    block.up.apply(inside.data(), rows, wide.data());
    for (float& value : wide) value = silu(value);
    block.down.apply(wide.data(), rows, inside.data());
    for (std::int64_t i = 0; i < rows; ++i) {
      const float* const gate = modulation.data() + (3 * i + 2) * w;
      for (std::int64_t j = 0; j < w; ++j) h[i * w + j] += gate[j] * inside[i * w + j];
    }
  }
  output_modulation_.apply(y.data(), rows, modulation.data());
  modulated(2, nullptr, nullptr);
  output_.apply(inside.data(), rows, out.data());
  return out;
}

}  // namespace draftlab
