#include "plugins/models/nn/kernels/rows/precision.h"

#include "core/base/error.h"

namespace draftlab {

void add_dtype(OptionSet& set, ModelDtype* dtype) {
  set.add("dtype", dtype)
      .help("Precision of this model's weights and products; run: that of run.dtype.");
}

Precision precision_of(ModelDtype dtype, const Machine& machine) {
  // ModelDtype has a word more in front, which stands for the run's.
  const auto precision = dtype == ModelDtype::run
                             ? machine.dtype
                             : static_cast<Precision>(static_cast<int>(dtype) - 1);
  if (is_quantised(precision) && machine.device != Device::cpu)
    throw ConfigError("run.device is {}: weights in {} are multiplied on cpu", word(machine.device),
                      word(precision));
  return precision;
}

}  // namespace draftlab
