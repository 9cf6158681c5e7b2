#include "plugins/models/nn/transformer/modulation_rows_torch.h"

#include <ATen/Parallel.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <utility>

#include "plugins/models/nn/kernels/rows/lanes.h"
#include "plugins/models/nn/kernels/share_work_torch.h"
#include "plugins/models/nn/kernels/timestep_features_torch.h"

namespace draftlab {
namespace {

RowLinear exact(const Linear& map) {
  return RowLinear(map.weight.detach(), map.bias.detach(), Precision::f32);
}

// Applies a map to x [rows, in] and a SiLU to what comes out, [rows, out].
std::vector<float> activated(const RowLinear& map, const std::vector<float>& x, std::int64_t rows,
                             std::int64_t out) {
  std::vector<float> y(rows * out);
  map.apply(x.data(), rows, y.data());
  for (float& value : y) value = silu(value);
  return y;
}

template <class Work>
void each_of(std::span<const std::int64_t> rows, const Work& work) {
  share_evenly(static_cast<std::int64_t>(rows.size()), 16,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) work(i, rows[i]);
               });
}

}  // namespace

ConditionMap::ConditionMap(const NoiseEmbedding& embedding)
    : in_(exact(embedding.in)), out_(exact(embedding.out)), width_(embedding.in.weight.size(0)) {}

RowConditions ConditionMap::of(std::span<const float> noise) const {
  RowConditions conditions;
  if (width_ == 0) return conditions;
  std::vector<double> distinct;
  for (const float level : noise) {
    const auto found = std::find(distinct.begin(), distinct.end(), level);
    conditions.level.push_back(found - distinct.begin());
    if (found == distinct.end()) distinct.push_back(level);
  }
  conditions.levels = static_cast<std::int64_t>(distinct.size());
  const std::vector<float> features = floats(timestep_features(at::tensor(distinct, at::kDouble)));
  const auto activate = [&](const RowLinear& map, const std::vector<float>& x) {
    return activated(map, x, conditions.levels, width_);
  };
  conditions.of_level = activate(out_, activate(in_, features));
  return conditions;
}

RowModulation::RowModulation(std::vector<float> made, const RowConditions& conditions,
                             std::int64_t d)
    : made_(std::move(made)), conditions_(conditions), width_(d) {}

const float* RowModulation::of(std::int64_t row, std::int64_t part) const {
  const auto each = static_cast<std::int64_t>(made_.size()) / conditions_.levels;
  return made_.data() + conditions_.level[row] * each + part * width_;
}

void RowModulation::shift_and_scale(std::int64_t first, std::span<const std::int64_t> rows,
                                    float* x) const {
  if (made_.empty()) return;
  each_of(rows, [&](std::int64_t i, std::int64_t row) {
    const float *const shift = of(row, first), *const scale = of(row, first + 1);
    float* const to = x + i * width_;
    for (std::int64_t j = 0; j < width_; ++j) to[j] = to[j] * (1 + scale[j]) + shift[j];
  });
}

void RowModulation::gate(std::int64_t part, std::span<const std::int64_t> rows, float* x) const {
  if (made_.empty()) return;
  each_of(rows, [&](std::int64_t i, std::int64_t row) {
    const float* const by = of(row, part);
    float* const to = x + i * width_;
    for (std::int64_t j = 0; j < width_; ++j) to[j] *= by[j];
  });
}

ModulationMap::ModulationMap(const Linear& map, std::int64_t d)
    : map_(exact(map)), width_(d), all_(map.weight.size(0)) {}

RowModulation ModulationMap::of(const RowConditions& conditions) const {
  std::vector<float> made(conditions.levels * all_);
  if (!made.empty()) map_.apply(conditions.of_level.data(), conditions.levels, made.data());
  return {std::move(made), conditions, width_};
}

}  // namespace draftlab
