// What every trainer's loop asks for, whatever it trains: optimisation, and what is kept.
// Torch-free; training_torch.h runs it.
#pragma once

#include <cstdint>
#include <string>

#include "core/config/options.h"

namespace draftlab {

struct TrainingOptions {
  // Optimisation.
  std::int64_t batch = 32, accumulate = 1, steps = 10000, warmup = 500;
  double rate = 1e-3, floor = 0, weight_decay = 0.01, clip = 1, minutes = 0;
  // What is kept.
  std::int64_t log_every = 20, validate_every = 500, save_every = 0;
  double save_minutes = 5;
  std::string dtype = "f32";

  void declare(OptionSet& set);
};

}  // namespace draftlab
