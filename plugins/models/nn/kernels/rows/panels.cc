#include "plugins/models/nn/kernels/rows/panels.h"

#include <algorithm>
#include <cstring>

#include "plugins/models/nn/kernels/rows/bf16_products.h"
#include "plugins/models/nn/kernels/rows/lanes.h"

namespace draftlab {
namespace {

// So many numbers are narrowed at once.
constexpr std::int64_t kSome = 64;

void narrow_some(const float* from, std::int64_t count, std::uint16_t* to) {
  on_widest([&] {
    for (std::int64_t i = 0; i < count; ++i) narrow(from[i], to[i]);
  });
}

}  // namespace

void Panels::settle(Layout layout, std::int64_t outputs, std::int64_t inputs) {
  const std::int64_t unit = layout == Layout::tiles ? kTileInputs : 1;
  Panels grown(matrices_);
  grown.layout_ = layout;
  grown.panels_ = std::max(panels_, (outputs + 15) / 16);
  grown.inputs_ = std::max(inputs_, (inputs + unit - 1) / unit * unit);
  if (grown.panels_ == panels_ && grown.inputs_ == inputs_) return;
  grown.lines_.resize(matrices_ * grown.panels_ * grown.panel_lines());
  for (std::int64_t m = 0; m < matrices_; ++m) {
    for (std::int64_t p = 0; p < panels_; ++p) {
      const auto from = lines_.begin() + (m * panels_ + p) * panel_lines();
      std::copy_n(from, panel_lines(),
                  grown.lines_.begin() + (m * grown.panels_ + p) * grown.panel_lines());
    }
  }
  *this = std::move(grown);
}

void Panels::set_output(std::int64_t matrix, std::int64_t output, const float* inputs,
                        std::int64_t count) {
  if (layout_ != Layout::tiles) {
    float* const to = floats() + place(matrix, output, 0);
    for (std::int64_t i = 0; i < count; ++i) to[i * 16] = inputs[i];
    return;
  }
  std::uint16_t some[kSome];
  for (std::int64_t first = 0; first < count; first += kSome) {
    const std::int64_t many = std::min(kSome, count - first);
    std::uint16_t* const to = halves() + place(matrix, output, first);
    narrow_some(inputs + first, many, some);
    // Inputs lie in pairs.
    for (std::int64_t i = 0; i + 1 < many; i += 2) std::memcpy(to + i * 16, some + i, 4);
    if (many % 2 == 1) to[(many - 1) * 16] = some[many - 1];
  }
}

void Panels::set_input(std::int64_t matrix, std::int64_t input, const float* outputs,
                       std::int64_t count) {
  std::uint16_t some[kSome];
  for (std::int64_t first = 0; first < count; first += 16) {
    const std::int64_t from = place(matrix, first, input),
                       many = std::min<std::int64_t>(16, count - first);
    if (layout_ != Layout::tiles) {
      std::copy_n(outputs + first, many, floats() + from);
      continue;
    }
    if (first % kSome == 0) narrow_some(outputs + first, std::min(kSome, count - first), some);
    for (std::int64_t i = 0; i < many; ++i) halves()[from + 2 * i] = some[first % kSome + i];
  }
}

void Panels::fetch_output(std::int64_t output) const {
  for (std::int64_t m = 0; m < matrices_; ++m) {
    const Line* const panel = lines_.data() + (m * panels_ + output / 16) * panel_lines();
    for (std::int64_t line = 0; line < panel_lines(); ++line) __builtin_prefetch(panel + line, 1);
  }
}

void Panels::fetch_input(std::int64_t input) const {
  const std::int64_t line = layout_ == Layout::tiles ? input / 2 : input;
  for (std::int64_t panel = 0; panel < matrices_ * panels_; ++panel)
    __builtin_prefetch(lines_.data() + panel * panel_lines() + line, 1);
}

float Panels::at(std::int64_t matrix, std::int64_t output, std::int64_t input) const {
  const std::int64_t from = place(matrix, output, input);
  if (layout_ == Layout::tiles)
    return widen(reinterpret_cast<const std::uint16_t*>(lines_.data())[from]);
  return reinterpret_cast<const float*>(lines_.data())[from];
}

PackedView Panels::view(std::int64_t matrix, std::int64_t first, std::int64_t outputs,
                        std::int64_t inputs) const {
  const std::int64_t size = layout_ == Layout::tiles ? 2 : 4;
  return {layout_, inputs,
          outputs, reinterpret_cast<const char*>(lines_.data()) + place(matrix, first, 0) * size,
          nullptr, 16 * inputs_};
}

}  // namespace draftlab
