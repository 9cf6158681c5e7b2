#include "plugins/models/mar/device_diffusion_head_torch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cstdint>

namespace draftlab {
namespace {

at::Tensor rows_of_numbers(const std::vector<float>& numbers, std::int64_t rows,
                           const at::Device& device) {
  const at::Tensor tensor = at::empty(
      {rows, static_cast<std::int64_t>(numbers.size()) / std::max<std::int64_t>(rows, 1)});
  std::copy(numbers.begin(), numbers.end(), tensor.data_ptr<float>());
  return tensor.to(device);
}

at::Tensor whole_steps(std::span<const int> steps) {
  return at::tensor(std::vector<std::int64_t>(steps.begin(), steps.end()), at::kLong);
}

}  // namespace

DeviceDiffusionHead::DeviceDiffusionHead(DiffusionHead head, std::span<const int> timesteps,
                                         const at::TensorOptions& options)
    : head_(std::move(head)), options_(options) {
  const at::NoGradGuard no_grad;
  time_ = head_.time(whole_steps(timesteps)).to(options.dtype(at::kFloat));
  std::vector<Linear*> products{&head_.condition, &head_.input, &head_.output,
                                &head_.output_modulation};
  for (DiffusionHeadBlock& block : head_.blocks) {
    for (Linear* const linear : {&block.up, &block.down, &block.modulation})
      products.push_back(linear);
    for (at::Tensor* const tensor : {&block.norm.weight, &block.norm.bias})
      *tensor = tensor->detach().to(options.dtype(at::kFloat));
  }
  for (Linear* const linear : products)
    for (at::Tensor* const tensor : {&linear->weight, &linear->bias})
      *tensor = tensor->detach().to(options);
}

std::vector<float> DeviceDiffusionHead::forward(const std::vector<float>& x,
                                                const std::vector<float>& z,
                                                std::span<const int> steps) const {
  const at::NoGradGuard no_grad;
  const bool bf16 = options_.dtype() == at::kBFloat16;
  const auto rows = static_cast<std::int64_t>(steps.size());
  const at::Device device = options_.device();
  const at::Tensor y = head_.condition(rows_of_numbers(z, rows, device), bf16) +
                       time_.index_select(0, whole_steps(steps).to(device));
  const at::Tensor out = head_.forward(rows_of_numbers(x, rows, device), y, bf16)
                             .to(at::TensorOptions(at::kFloat).device(at::kCPU))
                             .contiguous();
  return {out.data_ptr<float>(), out.data_ptr<float>() + out.numel()};
}

}  // namespace draftlab
