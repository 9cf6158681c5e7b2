// MAR's diffusion head for decoding: it computes any number of tokens, each at a reverse step of
// its own, in one forward.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "plugins/models/mar/diffusion_head_torch.h"
#include "plugins/models/nn/kernels/row_linear_torch.h"

namespace draftlab {

class DeviceDiffusionHead;

class DiffusionHeadRows {
 public:
  // `timesteps` is what the network is told at each reverse step. With a device for `tensors`,
  // tensor operations do the work there, and a row's bits may depend on the rows beside it.
  DiffusionHeadRows(const DiffusionHead& head, std::span<const int> timesteps, Precision precision,
                    std::optional<at::Device> tensors = std::nullopt);
  DiffusionHeadRows(DiffusionHeadRows&&) noexcept;
  ~DiffusionHeadRows();
  // Takes states x [rows, D], conditions z [rows, d] and the reverse step of each row, and returns
  // [rows, outputs]. What a row gets is, bit for bit, what it gets alone.
  std::vector<float> forward(const std::vector<float>& x, const std::vector<float>& z,
                             std::span<const int> steps) const;

 private:
  struct Block {
    std::vector<float> norm, norm_bias;
    RowLinear up, down, modulation;
  };
  std::int64_t width_, outputs_;
  std::unique_ptr<DeviceDiffusionHead> elsewhere_;
  // The shape is [steps, W].
  std::vector<float> time_;
  RowLinear condition_, input_, output_, output_modulation_;
  std::vector<Block> blocks_;
};

}  // namespace draftlab
