// How the frequencies of rotary positions are stretched for texts that are longer than those of a
// model's first training, as config.json states it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/models/nn/checkpoint/config_file.h"

namespace draftlab {

// linear divides all frequencies by `factor` (Chen et al., 2023). llama3 divides those by `factor`
// whose wavelength is longer than original / low, keeps those whose wavelength is shorter than
// original / high, and goes from one to the other in between (Llama 3.1).
enum class RopeKind { none, linear, llama3 };
constexpr std::array<std::string_view, 3> words(RopeKind) {
  return {"default", "linear", "llama3"};
}

struct RopeScaling {
  RopeKind kind = RopeKind::none;
  // The keys factor, low_freq_factor and high_freq_factor.
  double factor = 1, low = 1, high = 1;
  // The key original_max_position_embeddings.
  std::int64_t original = 0;
};

// The base of the frequencies, and how they are stretched.
struct Rope {
  double theta = 1e4;
  RopeScaling scaling;
};

// Reads `rope_theta` and `rope_scaling`, or `rope_parameters`, in which newer files have both.
// Throws DataError where they ask for another kind of scaling or leave a number out.
Rope read_rope(const ConfigFile& file);

// Returns rope_scaling as a file has it; null where there is none.
Json rope_scaling_json(const RopeScaling& scaling);

// Returns what the frequencies of `rotary` numbers of a head are divided by: rotary / 2 numbers.
std::vector<double> rope_divisors(const Rope& rope, std::int64_t rotary);

}  // namespace draftlab
