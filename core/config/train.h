// The seam of `draftlab train`: a trainer makes a checkpoint (or a tokenizer) from data.
#pragma once

#include <functional>
#include <string>

#include "core/config/config.h"
#include "core/model/model.h"
#include "core/trace/rows.h"

namespace draftlab {

struct Registries;

struct TrainContext {
  const Registries& registries;
  // The config, from which a trainer composes what it needs itself, such as the task it validates
  // on.
  const Config& config;
  Machine machine;
  std::uint64_t seed = 0;
  // The folder of the checkpoint.
  std::string out;
  bool resume = false;
  // Decodes held-out prompts with a checkpoint and scores them; the caller fills in step, seconds
  // and loss. The function is empty when the config names no task.
  std::function<ValidationRow(const std::string& checkpoint)> generate = {};
};

class Trainer {
 public:
  virtual ~Trainer() = default;
  // Trains and writes `out`. This takes long: it shows progress, saves checkpoints, and ends on
  // SIGTERM and SIGINT only after saving one.
  virtual void run(const TrainContext& context) = 0;
};

}  // namespace draftlab
