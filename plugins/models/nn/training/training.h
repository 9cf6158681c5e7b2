// The options of every trainer's loop, whatever it trains: optimisation, and what is kept. This
// file needs no torch; training_torch.h runs the loop.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/config/options.h"
#include "core/config/train.h"

namespace draftlab {

// The number format of a checkpoint's weights.
enum class SavedAs { f32, bf16 };
constexpr std::array<std::string_view, 2> words(SavedAs) { return {"f32", "bf16"}; }

struct TrainingOptions {
  // The options of optimisation.
  std::int64_t batch = 32, accumulate = 1, steps = 10000, warmup = 500;
  double rate = 1e-3, floor = 0, weight_decay = 0.01, clip = 1, minutes = 0;
  // The decay of the weights' moving average, a step.
  double average = 0;
  // How often curves, validations and checkpoints are kept.
  std::int64_t log_every = 20, validate_every = 500, save_every = 0;
  double save_minutes = 5;
  SavedAs dtype = SavedAs::f32;

  void declare(OptionSet& set);
};

// Throws ConfigError with the rule that an option breaks, unless it holds.
void require(bool holds, const std::string& rule);
// Throws ConfigError unless the run is on a cpu, and OutputError where its folder holds a training
// that is not to be resumed.
void check_run(const std::string& trainer, const TrainContext& context);

}  // namespace draftlab
