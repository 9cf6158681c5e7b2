// What the trainers `block-diffusion` and `masked-diffusion` share: a decoder-only transformer that
// learns to answer problems, to write programs and to tell stories. This file needs no torch, so
// that `list`, `describe` and `check` know the trainers without loading torch.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/options.h"
#include "core/config/train.h"
#include "plugins/models/nn/training/examples.h"
#include "plugins/models/nn/training/training.h"

namespace draftlab {

// The family of a model made from scratch.
enum class DecoderFamily { sdar, fast_dllm, dream };
constexpr std::array<std::string_view, 3> words(DecoderFamily) {
  return {"sdar", "Fast_dLLM_Qwen", "Dream"};
}

struct TrainDecoderOptions : TrainingOptions {
  // The corpus.
  std::string tokenizer;
  std::int64_t problems = 100000, programs = 0, stories = 0;
  // The shape of the model.
  std::string start;
  DecoderFamily model_type = DecoderFamily::sdar;
  std::int64_t layers = 5, width = 160, heads = 5, groups = 5, head = 32, inner = 448;
  bool tied = true;
  // The canvases that validate.
  std::int64_t validate_canvases = 64;

  void declare(OptionSet& set);
  // Throws ConfigError naming the rule that an option of `trainer` breaks.
  void check(const std::string& trainer) const;
};

// Examples of one task that only validation sees.
struct HeldOut {
  std::string task;
  std::vector<WorkedExample> examples;
  // Says whether an answer, up to its end token, to an example's prompt is right; empty where no
  // answer is (stories).
  std::function<bool(std::size_t example, const std::vector<Token>& answer)> right;
};

// What the torch module gets besides options. The module must not depend on the tokenizer's
// library, whose copy of protobuf would clash with the one that torch loads.
struct DecoderCorpus {
  std::vector<WorkedExample> examples;
  std::vector<HeldOut> held_out;
  int vocabulary = 0;
  Token mask = 0, end = 0;
};

// Makes the corpus, and the folder `context.out` with its tokenizer, then calls `train`. Throws
// OutputError when the folder holds a training that is not to be resumed, and ConfigError when the
// machine is not a cpu.
void train_decoder(const std::string& trainer, const TrainDecoderOptions& options,
                   const TrainContext& context,
                   const std::function<void(const DecoderCorpus&)>& train);

}  // namespace draftlab
