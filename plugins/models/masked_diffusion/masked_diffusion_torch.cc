// The model `masked-diffusion` on libtorch: the rows of all questions of a batch go through the
// network together.
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "plugins/models/checkpoint/weights_torch.h"
#include "plugins/models/kernels/machine_torch.h"
#include "plugins/models/masked_diffusion/masked_diffusion.h"
#include "plugins/models/masked_diffusion/masked_rows_torch.h"
#include "plugins/models/transformer/device_rows_torch.h"

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

class MaskedDiffusion final : public Model {
 public:
  explicit MaskedDiffusion(const MaskedDiffusionOptions& options) : options_(options) {
    if (options_.checkpoint.empty())
      throw ConfigError(
          "model.checkpoint must name a folder with config.json and model.safetensors");
  }

  void load(const Machine& machine) override {
    const at::Device device = device_of(machine);
    on_cpu_ = device.is_cpu();
    use_threads(machine.threads);
    const Precision precision = precision_of(options_.dtype, machine);
    Transformer net = Transformer::load(options_.checkpoint, std::nullopt);
    config_ = net.config;
    rules_ = rules_of(options_, config_);
    if (rules_.mask < 0)
      throw DataError("{}/config.json: has no 'mask_token_id'", options_.checkpoint);

    facts_.vocabulary = static_cast<int>(config_.vocab_size);
    facts_.longest =
        static_cast<int>(options_.longest > 0 ? options_.longest : config_.max_position_embeddings);
    facts_.mask = rules_.mask;
    for (const std::int64_t stop : config_.eos_token_id)
      facts_.stops.push_back(static_cast<Token>(stop));
    facts_.family = config_.model_type;
    facts_.checkpoint = options_.checkpoint;
    facts_.digest = weights_digest(options_.checkpoint);
    for (const auto& [name, tensor] : net.named_parameters()) facts_.parameters += tensor.numel();
    rows_.emplace(std::move(net), precision, PredictionHeads{}, device);
    scratch_.emplace(config_);
  }

  ModelFacts facts() const override { return facts_; }

  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks& blocks) override {
    if (canvas.length() > facts_.longest) {
      throw ConfigError(
          "a canvas of {} positions is longer than the {} that masked-diffusion can hold",
          canvas.length(), facts_.longest);
    }
    for (const Token token : canvas.tokens()) {
      if (token >= facts_.vocabulary) {
        throw ConfigError("prompt token {} lies outside the model's vocabulary of {}", token,
                          facts_.vocabulary);
      }
    }
    if (rules_.shifted && canvas.masked(0))
      throw ConfigError("a model with right-shifted logits needs a prompt token at position 0");
    rows_->prepare(canvas.length());
    return std::make_unique<MaskedSequence>(canvas, blocks, rules_, config_);
  }

  // All rows of all questions go through one forward, and each row's sums run in an order of their
  // own: a drafted state's answer is, to the last bit, what the committed state's will be.
  bool rows_are_independent() const override { return on_cpu_; }
  bool mixes() const override { return true; }

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
    const auto size = static_cast<std::size_t>(facts_.vocabulary);
    // For each asked row: its place among the logits.
    std::vector<std::size_t> line(gathered.rows.size());
    for (std::size_t row = 0, next = 0; row < line.size(); ++row)
      line[row] = gathered.rows[row].asked ? next++ : 0;
    for (const auto& [answer, asked] : gathered.asked) {
      for (const AskedRow& from : asked) {
        answer->add(
            from.node, from.position,
            Distribution::from_logits(
                logits, {logits->data_ptr<float>() + line[from.row] * size, size}, facts_.mask));
      }
    }
    gathered = {};
    scratch_->begin();
  }

  MaskedDiffusionOptions options_;
  CacheRules rules_;
  ModelFacts facts_;
  TransformerConfig config_;
  std::optional<TransformerRows> rows_;
  bool on_cpu_ = true;
  std::optional<ScratchMemories> scratch_;
};

}  // namespace
}  // namespace draftlab

draftlab::Model* draftlab_make_masked_diffusion(const draftlab::MaskedDiffusionOptions* options) {
  return new draftlab::MaskedDiffusion(*options);
}
