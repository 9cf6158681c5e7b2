// Matrices of outputs and inputs in panels, written output by output or input by input. Attention
// keeps a sequence's keys and values so, a matrix a head.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plugins/models/nn/kernels/rows/row_kernels.h"

namespace draftlab {

// Returns the least multiple of 16 that is at least so much.
constexpr std::int64_t padded(std::int64_t count) { return (count + 15) / 16 * 16; }

class Panels {
 public:
  explicit Panels(std::int64_t matrices = 0) : matrices_(matrices) {}
  // Makes room for at least as many outputs and inputs in each matrix. What is there stays, and
  // what is new is zero. The layout is f32 or tiles, and always the same.
  void settle(Layout layout, std::int64_t outputs, std::int64_t inputs);
  void set_output(std::int64_t matrix, std::int64_t output, const float* inputs,
                  std::int64_t count);
  void set_input(std::int64_t matrix, std::int64_t input, const float* outputs, std::int64_t count);
  float at(std::int64_t matrix, std::int64_t output, std::int64_t input) const;
  // Prefetches the memory that setting an output, or an input of all outputs, of every matrix will
  // touch.
  void fetch_output(std::int64_t output) const;
  void fetch_input(std::int64_t input) const;
  // Returns a view of the outputs from `first` on, which is a multiple of 16, and of the first
  // inputs.
  PackedView view(std::int64_t matrix, std::int64_t first, std::int64_t outputs,
                  std::int64_t inputs) const;

 private:
  // A row of a tile, or 16 numbers of f32.
  struct alignas(64) Line {
    std::byte bytes[64] = {};
  };
  std::int64_t place(std::int64_t matrix, std::int64_t output, std::int64_t input) const {
    const std::int64_t panel = (matrix * panels_ * 16 + (output & ~15)) * inputs_,
                       lane = output & 15;
    return layout_ == Layout::tiles ? panel + (input & ~1) * 16 + lane * 2 + (input & 1)
                                    : panel + input * 16 + lane;
  }
  float* floats() { return reinterpret_cast<float*>(lines_.data()); }
  std::uint16_t* halves() { return reinterpret_cast<std::uint16_t*>(lines_.data()); }
  std::int64_t panel_lines() const { return layout_ == Layout::tiles ? inputs_ / 2 : inputs_; }
  Layout layout_ = Layout::f32;
  // `panels_` counts those of each matrix.
  std::int64_t matrices_, panels_ = 0, inputs_ = 0;
  std::vector<Line> lines_;
};

}  // namespace draftlab
