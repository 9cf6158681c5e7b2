// The device that models run on, and how they compute there: config section `run`.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/base/words.h"

namespace draftlab {

// Where a model's products are computed: by our kernels on the CPU, or by libtorch's tensor
// operations on a GPU. `cpu-tensors` runs those same operations on the CPU, for tests of the path
// that a GPU takes.
enum class Device : std::uint8_t { cpu, cuda, cpu_tensors };
constexpr std::array<std::string_view, 3> words(Device) { return {"cpu", "cuda", "cpu-tensors"}; }

// The numbers that weights are kept in, and multiplied with. With q8 and q4 the weights of products
// are rounded to eight or four bits when they are loaded.
enum class Precision : std::uint8_t { f32, bf16, q8, q4 };
constexpr std::array<std::string_view, 4> words(Precision) { return {"f32", "bf16", "q8", "q4"}; }

constexpr bool is_quantised(Precision precision) {
  return precision == Precision::q8 || precision == Precision::q4;
}

// The unit roundoff of sums and activations: 2^-24 in f32, and 2^-8 where rows are rounded to bf16
// or to eight bits on the way.
constexpr double unit_roundoff(Precision precision) {
  return precision == Precision::f32 ? 0x1p-24 : 0x1p-8;
}

// The largest total variation between two answers to one question that rounding explains, given the
// unit roundoff: a forward adds up some thousands of products, whose roundings are so many units at
// most, for they cancel like a random walk.
constexpr double explained_by_rounding(double unit) { return 1024 * unit; }

struct Machine {
  Device device = Device::cpu;
  Precision dtype = Precision::f32;
  // The number of threads; 0 takes as many as the affinity mask allows.
  int threads = 0;
  // Refuses a model whose answers may depend on what else its forward computes.
  bool fixed_shape = false;
};

}  // namespace draftlab
