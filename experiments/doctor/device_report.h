// `draftlab doctor --device DEVICE`: decodes prompts of checkpoints by our kernels on the CPU, asks
// the device whatever the decodes ask, and says how far its answers are off and how long they take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/plugin.h"
#include "core/model/machine.h"

namespace draftlab {

// What one model in one precision has shown.
struct TriedModel {
  std::string name, checkpoint;
  Precision dtype = Precision::f32;
  // Why the device does not compute it; "" where it does.
  std::string refusal = {};
  // The answers that were compared, and those that differ by more than rounding explains.
  std::int64_t rows = 0, faults = 0;
  // The largest distance of two answers (Agreement::variation), and the largest that rounding
  // explains.
  double distance = 0, explained = 0;
  // The median of a forward's milliseconds, on the device and by our kernels in one thread.
  double milliseconds = 0, cpu_milliseconds = 0;
  bool works() const { return refusal.empty() && rows > 0 && faults == 0; }
};

// Returns the configs that are decoded where none is named: those of the shipped checkpoints.
std::vector<std::string> device_configs();

// Decodes the first prompt of each arm of a config, in f32 and in bf16, and returns what its models
// have shown. A model is tried once in each precision.
std::vector<TriedModel> try_models(const std::string& config, Device device,
                                   const Registries& registries);

// Tries the models of all configs and prints a line for each. Returns how many do not work.
int report_device(const std::vector<std::string>& configs, Device device,
                  const Registries& registries);

}  // namespace draftlab
