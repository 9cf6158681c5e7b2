#include "analysis/report/machine_speed.h"

#include <algorithm>

namespace draftlab {

double bytes_of_weight(const std::string& dtype) {
  // In q8 and q4 a block of 32 weights has a scale of two bytes.
  if (dtype == "q8") return 34.0 / 32;
  if (dtype == "q4") return 18.0 / 32;
  return dtype == "bf16" ? 2 : 4;
}

double MachineSpeed::forward(double positions, const ModelWeights& weights) const {
  return std::max(weights.parameters * weights.bytes / bandwidth,
                  2 * weights.parameters * positions / flops);
}

}  // namespace draftlab
