#include "plugins/models/nn/training/training.h"

#include <filesystem>

#include "core/base/error.h"

namespace draftlab {

void TrainingOptions::declare(OptionSet& set) {
  set.add("batch", &batch).in(1, 65536).help("Canvases of one forward.");
  set.add("accumulate", &accumulate).in(1, 65536).help("Forwards of one optimizer step.");
  set.add("steps", &steps)
      .in(1, 1e12)
      .help("Optimizer steps, at the end of which the learning rate reaches its floor.");
  set.add("warmup", &warmup).in(0, 1e12).help("Steps of linear learning-rate warm-up.");
  set.add("rate", &rate).in(0, 10).help("Highest learning rate.");
  set.add("floor", &floor)
      .in(0, 1)
      .help("Share of the highest learning rate that is left at the end.");
  set.add("weight_decay", &weight_decay).in(0, 10).help("Decoupled weight decay.");
  set.add("average", &average)
      .in(0, 0.999999)
      .help(
          "What a step keeps of the weights' moving average, which is then what is validated and "
          "saved (MAR: 0.9999); 0: the weights themselves.");
  set.add("clip", &clip).in(0.0001, 1e9).help("Largest norm of the gradient.");
  set.add("minutes", &minutes)
      .in(0, 1e9)
      .help("Training stops and saves after so many minutes; 0: no limit.");
  set.add("log_every", &log_every).in(1, 1e12).help("Steps between rows of the curve.");
  set.add("validate_every", &validate_every).in(1, 1e12).help("Steps between validations.");
  set.add("save_every", &save_every)
      .in(0, 1e12)
      .help("Steps between checkpoints; 0: checkpoints follow the clock alone.");
  set.add("save_minutes", &save_minutes).in(0.01, 1e9).help("Minutes between checkpoints.");
  set.add("dtype", &dtype).help("Number format of the checkpoint's weights.");
}

void require(bool holds, const std::string& rule) {
  if (!holds) throw ConfigError(rule);
}

void check_run(const std::string& trainer, const TrainContext& context) {
  if (context.machine.device != Device::cpu)
    throw ConfigError("run.device = {}: trainer.{} runs on cpu only", word(context.machine.device),
                      trainer);
  if (!context.resume && std::filesystem::exists(context.out + "/training.safetensors"))
    throw OutputError(
        "'{}' holds a training already: --resume goes on with it, or --out names another folder",
        context.out);
}

}  // namespace draftlab
