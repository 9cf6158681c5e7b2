#include "plugins/models/kernels/precision.h"

#include <algorithm>
#include <string>

#include "core/base/error.h"

namespace draftlab {

void add_dtype(OptionSet& set, ModelDtype* dtype) {
  set.add("dtype", dtype)
      .help("Precision of this model's weights and products; run: that of run.dtype.");
}

Precision precision_of(ModelDtype dtype, const Machine& machine) {
  constexpr auto kWords = words(ModelDtype{});
  const std::string word(dtype == ModelDtype::run ? machine.dtype
                                                  : kWords[static_cast<std::size_t>(dtype)]);
  const auto* const found = std::find(kWords.begin() + 1, kWords.end(), word);
  if (found == kWords.end()) throw Fault("no precision is called '{}'", word);
  const auto precision = static_cast<Precision>(found - (kWords.begin() + 1));
  if (is_quantised(precision) && machine.device != "cpu")
    throw ConfigError("run.device is {}: weights in {} are multiplied on cpu", machine.device,
                      word);
  return precision;
}

}  // namespace draftlab
