// The model `masked-diffusion` on libtorch: the rows of all questions of a batch go through the
// network together.
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "plugins/models/masked_diffusion/masked_diffusion.h"
#include "plugins/models/masked_diffusion/masked_rows_torch.h"
#include "plugins/models/nn/transformer/decoder_model_torch.h"
#include "plugins/models/nn/transformer/device_rows_torch.h"

namespace draftlab {
namespace {

// Whole questions go through the network together until there are so many rows.
constexpr std::size_t kManyRows = 2048;

CacheRules rules_of(const MaskedDiffusionOptions& options, const TransformerConfig& config) {
  CacheRules rules;
  rules.cache = options.cache;
  rules.ride = options.ride;
  rules.refresh = options.refresh;
  rules.cross = options.cross;
  rules.shifted = is_right_shifted(options.shifted, config.right_shifted());
  rules.mask = static_cast<Token>(config.mask_token_id);
  return rules;
}

class MaskedDiffusion final : public DecoderModel {
 public:
  explicit MaskedDiffusion(const MaskedDiffusionOptions& options) : options_(options) {
    require_checkpoint(options_.checkpoint);
  }

  void load(const Machine& machine) override {
    LoadedDecoder loaded = load_decoder(options_.checkpoint, options_.dtype, machine);
    rules_ = rules_of(options_, config_);
    if (rules_.mask < 0 && rules_.cache != CanvasCache::none)
      throw ConfigError(
          "model.masked-diffusion.cache = {}, but {}/config.json has no 'mask_token_id': the model "
          "reads a random canvas, which changes in every step; cache must be none",
          word(rules_.cache), options_.checkpoint);
    if (config_.conditioned() && rules_.cache != CanvasCache::none)
      throw ConfigError(
          "model.masked-diffusion.cache = {}, but the layers of {} read the canvas's noise level, "
          "with which all keys and values change in every step; cache must be none",
          word(rules_.cache), options_.checkpoint);

    facts_ = decoder_facts(loaded, options_.checkpoint, options_.longest);
    facts_.random_canvas = rules_.mask < 0;
    rows_.emplace(std::move(loaded.net), loaded.precision, PredictionHeads{}, loaded.tensors);
    scratch_.emplace(config_);
  }

  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks& blocks) override {
    check_canvas(canvas, facts_, "masked-diffusion");
    if (rules_.shifted && canvas.masked(0))
      throw ConfigError("a model with right-shifted logits needs a prompt token at position 0");
    rows_->prepare(canvas.length());
    return std::make_unique<MaskedSequence>(canvas, blocks, rules_, config_);
  }

 protected:
  void evaluate(std::span<Pending> batch) override {
    const at::NoGradGuard no_grad;
    Gathered gathered;
    scratch_->begin();
    for (Pending& pending : batch) {
      const std::size_t before = gathered.rows.size();
      std::vector<AskedRow> asked;
      pending.rows = static_cast<MaskedSequence*>(pending.sequence)
                         ->add_rows(*pending.question, *scratch_, gathered.rows, asked);
      pending.positions = static_cast<std::int64_t>(gathered.rows.size() - before);
      pending.layers = config_.num_hidden_layers;
      gathered.asked.emplace_back(pending.answer, std::move(asked));
      if (gathered.rows.size() >= kManyRows) forward(gathered);
    }
    forward(gathered);
  }

 private:
  struct Gathered {
    std::vector<MemoryRow> rows;
    std::vector<std::pair<Answer*, std::vector<AskedRow>>> asked;
  };

  // Computes what was gathered and fills its answers.
  void forward(Gathered& gathered) {
    if (gathered.rows.empty()) return;
    const auto logits = std::make_shared<at::Tensor>(rows_->forward(gathered.rows));
    // For each asked row: its place among the logits.
    std::vector<std::int64_t> line(gathered.rows.size());
    std::int64_t next = 0;
    for (std::size_t row = 0; row < line.size(); ++row)
      line[row] = gathered.rows[row].asked ? next++ : 0;
    for (const auto& [answer, asked] : gathered.asked)
      for (const AskedRow& from : asked)
        answer->add(from.node, from.position, law(logits, line[from.row]));
    gathered = {};
    scratch_->begin();
  }

  MaskedDiffusionOptions options_;
  CacheRules rules_;
  std::optional<ScratchMemories> scratch_;
};

}  // namespace
}  // namespace draftlab

draftlab::Model* draftlab_make_masked_diffusion(const draftlab::MaskedDiffusionOptions* options) {
  return new draftlab::MaskedDiffusion(*options);
}
