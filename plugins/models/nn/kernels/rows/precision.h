// The numbers that a model's weights are kept in, as `run.dtype` says, or `model.NAME.dtype` for
// one model alone. With q8 and q4 the weights of products are rounded to eight or four bits when
// they are loaded (quantised_products.h); a tied head is rounded, and the embedding beside it is
// not. Norms, biases, rotations, cached keys and values, and all sums stay f32.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/config/options.h"
#include "core/model/machine.h"

namespace draftlab {

// The option `dtype` of a model: that of the run, or one of its own.
enum class ModelDtype : std::uint8_t { run, f32, bf16, q8, q4 };
constexpr std::array<std::string_view, 5> words(ModelDtype) {
  return {"run", "f32", "bf16", "q8", "q4"};
}
void add_dtype(OptionSet& set, ModelDtype* dtype);

// Returns the precision of a model with this option on this machine. Throws ConfigError where the
// device cannot have it.
Precision precision_of(ModelDtype dtype, const Machine& machine);

}  // namespace draftlab
