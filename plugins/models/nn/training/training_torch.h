// The loop that every trainer shares: AdamW, the learning rate's schedule, curves, checkpoints,
// resume and signals. A trainer says what a step's gradient is. Random numbers are addressed by
// (seed, step, canvas), so a resumed run equals the uninterrupted one.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/config/train.h"
#include "plugins/models/nn/training/schedules.h"
#include "plugins/models/nn/training/training.h"

namespace draftlab {

// The uniforms of one canvas; the site's position counts the draws. Validation has clocks of its
// own.
inline constexpr std::uint64_t kTrainingStream = 0, kValidationStream = 1;
Uniforms uniforms(std::uint64_t seed, std::uint64_t stream, std::int64_t step, std::int64_t canvas);

struct StepResult {
  // The mean loss of the step.
  double loss = 0;
  // The share of its positions that were scored.
  double mask_rate = 0;
  double tokens = 0;
};

struct Training {
  // The name of the trainer.
  std::string name;
  // What it is trained on, for the first line of the log.
  std::string data;
  // These handles share storage with the network.
  std::vector<std::pair<std::string, at::Tensor>> parameters;
  // Adds the gradient of a step's mean loss.
  std::function<StepResult(std::int64_t step)> gradient;
  // Saves the network.
  std::function<void(const std::string& folder)> save;
  // Fills all of the row but step and seconds, and returns a line for the log.
  std::function<std::string(ValidationRow& row)> validate;
  // Whether the config's task, where it has one, is decoded with the network before a validation,
  // whose row then holds what came of it. The network is saved for that, and otherwise not yet.
  bool decodes = false;
};

// Returns the training of a whole network that saves itself and is decoded with: all but its name,
// its data, a step's gradient and what a validation computes.
template <class Network>
Training training_of(const Network& net, std::vector<std::pair<std::string, at::Tensor>> parameters,
                     const TrainingOptions& options) {
  Training training;
  training.parameters = std::move(parameters);
  training.save = [&](const std::string& folder) {
    net.save(folder, options.dtype == SavedAs::bf16);
  };
  training.decodes = true;
  return training;
}

// Says whether matrix products are to be in bf16.
inline bool in_bf16(const TrainContext& context) {
  return context.machine.dtype == Precision::bf16;
}

void run_training(const Training& training, const TrainingOptions& options,
                  const TrainContext& context);

// Writes a number with four digits, such as "0.4321".
std::string short_number(double value);

}  // namespace draftlab
