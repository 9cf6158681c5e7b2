// The seam of `draftlab train`: a trainer makes a checkpoint (or a tokenizer) from text.
#pragma once

#include <functional>
#include <string>

#include "core/config/config.h"
#include "core/parts/model.h"
#include "core/trace/rows.h"

namespace draftlab {

struct Registries;

struct TrainContext {
  const Registries& registries;
  const Config& config;  // for what a trainer composes itself: the task it validates on
  Machine machine;
  std::uint64_t seed = 0;
  std::string out;  // folder of the checkpoint
  bool resume = false;
  // Decodes held-out prompts with a checkpoint and scores them; step, seconds and loss are the
  // caller's. Empty when the config names no task.
  std::function<ValidationRow(const std::string& checkpoint)> generate = {};
};

class Trainer {
 public:
  virtual ~Trainer() = default;
  // Trains and writes `out`. Long: shows progress, saves checkpoints, dies of SIGTERM and SIGINT
  // only after saving one.
  virtual void run(const TrainContext& context) = 0;
};

}  // namespace draftlab
