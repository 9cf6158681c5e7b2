#include "plugins/models/mar/diffusion_head_torch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/silu.h>

#include "plugins/models/nn/kernels/timestep_features_torch.h"

namespace draftlab {

DiffusionHead::DiffusionHead(const WeightMaker& make, const std::string& prefix, const Shape& shape)
    : width(shape.width),
      time_in(make, prefix + "time_embed.mlp.0", {kTimestepFeatures, width}, Start::embedding),
      time_out(make, prefix + "time_embed.mlp.2", {width, width}, Start::embedding),
      condition(make, prefix + "cond_embed", {shape.condition, width}),
      input(make, prefix + "input_proj", {shape.dimension, width}) {
  for (std::int64_t i = 0; i < shape.depth; ++i) {
    const std::string block = prefix + "res_blocks." + std::to_string(i) + ".";
    blocks.push_back(
        {LayerNorm(make, block + "in_ln", width), Linear(make, block + "mlp.0", {width, width}),
         Linear(make, block + "mlp.2", {width, width}),
         Linear(make, block + "adaLN_modulation.1", {width, 3 * width}, Start::zeros)});
  }
  const std::string last = prefix + "final_layer.";
  output = Linear(make, last + "linear", {width, shape.outputs}, Start::zeros);
  output_modulation = Linear(make, last + "adaLN_modulation.1", {width, 2 * width}, Start::zeros);
}

at::Tensor DiffusionHead::time(const at::Tensor& timesteps, bool bf16) const {
  return time_out(at::silu(time_in(timestep_features(timesteps), bf16)), bf16);
}

at::Tensor DiffusionHead::forward(const at::Tensor& x, const at::Tensor& y, bool bf16) const {
  const at::Tensor modulating = at::silu(y);
  at::Tensor h = input(x, bf16);
  for (const DiffusionHeadBlock& block : blocks) {
    // The parts are shift, scale and gate.
    const std::vector<at::Tensor> parts = block.modulation(modulating, bf16).chunk(3, -1);
    const at::Tensor inside = block.norm(h, kHeadNormEpsilon) * (1 + parts[1]) + parts[0];
    h = h + parts[2] * block.down(at::silu(block.up(inside, bf16)), bf16);
  }
  const std::vector<at::Tensor> parts = output_modulation(modulating, bf16).chunk(2, -1);
  return output(at::layer_norm(h, {width}, {}, {}, kHeadNormEpsilon) * (1 + parts[1]) + parts[0],
                bf16);
}

}  // namespace draftlab
