// The seam of `draftlab train`: a trainer makes a checkpoint (or a tokenizer) from text.
#pragma once

#include <functional>
#include <string>

#include "core/config.h"
#include "core/model.h"

namespace draftlab {

struct Registries;

struct TrainContext {
  const Registries& registries;
  const Config& config;     // for what a trainer composes itself: the task it validates on
  Machine machine;
  std::uint64_t seed = 0;
  std::string out;          // folder of the checkpoint
  bool resume = false;
};

class Trainer {
 public:
  virtual ~Trainer() = default;
  // Trains and writes `out`. Long: shows progress, saves checkpoints, stops cleanly on SIGTERM and SIGINT after saving one.
  virtual void run(const TrainContext& context) = 0;
};

}  // namespace draftlab
