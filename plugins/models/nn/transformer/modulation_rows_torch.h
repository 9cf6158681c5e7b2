// The modulation of modulation_torch.h for a few rows at a time. Rows of one noise level share it:
// it is computed once for each level, and what a row gets does not depend on the other levels. It
// is f32 whatever the rest of the network is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plugins/models/nn/kernels/row_linear_torch.h"
#include "plugins/models/nn/transformer/transformer_torch.h"

namespace draftlab {

// The conditions of a forward's rows.
struct RowConditions {
  // The condition of each distinct noise level, [levels, c]; none in a network without conditions.
  std::vector<float> of_level;
  std::int64_t levels = 0;
  // For each row: which of them is its own.
  std::vector<std::int64_t> level;
};

// Makes conditions of noise levels.
class ConditionMap {
 public:
  // This one makes none.
  ConditionMap() = default;
  explicit ConditionMap(const NoiseEmbedding& embedding);
  // Takes the noise level of each row.
  RowConditions of(std::span<const float> noise) const;

 private:
  RowLinear in_, out_;
  // The width c; 0 where none are made.
  std::int64_t width_ = 0;
};

// What a linear map made of the conditions of some rows: parts of d numbers. Without conditions
// there are no parts, and both functions leave x as it is. `rows` are the places that the rows of x
// [rows, d] have in the forward.
class RowModulation {
 public:
  // `made` is [levels, parts d]. The conditions outlive the modulation.
  RowModulation(std::vector<float> made, const RowConditions& conditions, std::int64_t d);
  // Shifts by part `first`, and scales by the part behind it.
  void shift_and_scale(std::int64_t first, std::span<const std::int64_t> rows, float* x) const;
  void gate(std::int64_t part, std::span<const std::int64_t> rows, float* x) const;

 private:
  // The numbers of a part for a row.
  const float* of(std::int64_t row, std::int64_t part) const;
  std::vector<float> made_;
  const RowConditions& conditions_;
  std::int64_t width_;
};

class ModulationMap {
 public:
  // This one makes no parts.
  ModulationMap() = default;
  // The map is [parts d, c].
  ModulationMap(const Linear& map, std::int64_t d);
  RowModulation of(const RowConditions& conditions) const;

 private:
  RowLinear map_;
  // The width d, and the numbers of all parts.
  std::int64_t width_ = 0, all_ = 0;
};

}  // namespace draftlab
