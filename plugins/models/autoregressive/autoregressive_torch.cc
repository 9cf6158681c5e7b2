// The model `autoregressive` on libtorch: the rows of all questions of a batch go through the
// network together.
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "plugins/models/autoregressive/autoregressive.h"
#include "plugins/models/autoregressive/causal_rows_torch.h"
#include "plugins/models/transformer/decoder_model_torch.h"
#include "plugins/models/transformer/device_rows_torch.h"

namespace draftlab {
namespace {

class Autoregressive final : public Model {
 public:
  explicit Autoregressive(const AutoregressiveOptions& options) : options_(options) {
    require_checkpoint(options_.checkpoint);
  }

  void load(const Machine& machine) override {
    LoadedDecoder loaded = load_decoder(options_.checkpoint, options_.dtype, machine);
    on_cpu_ = loaded.device.is_cpu();
    config_ = loaded.net.config;
    if (!config_.right_shifted())
      throw DataError(
          "{}/config.json: model_type '{}' does not tell the next token; model = block-diffusion "
          "decodes with it",
          options_.checkpoint, config_.model_type);
    if (options_.exit_layers >= config_.num_hidden_layers) {
      throw ConfigError(
          "model.autoregressive.exit_layers = {} must be fewer than the checkpoint's {} layers",
          options_.exit_layers, config_.num_hidden_layers);
    }
    facts_ = decoder_facts(loaded.net, options_.checkpoint, config_.gpt2() ? 0 : options_.longest);

    PredictionHeads heads;
    if (const std::string& folder = options_.heads.empty() ? options_.checkpoint : options_.heads;
        !options_.heads.empty() || PredictionHeads::stored(folder)) {
      heads = PredictionHeads::load(folder, config_.hidden_size, facts_.digest);
      facts_.digest += "+" + PredictionHeads::digest(folder);
    }
    if (options_.first_head == FirstHead::base) heads.leave_first_to_base();
    for (const auto& [name, tensor] : heads.named_parameters()) facts_.parameters += tensor.numel();
    rules_ = {options_.cache == RowCache::on, config_.num_hidden_layers, options_.exit_layers,
              std::max(1, static_cast<int>(heads.count))};
    rows_.emplace(std::move(loaded.net), loaded.precision, heads, loaded.device);
  }

  ModelFacts facts() const override { return facts_; }

  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks&) override {
    check_canvas(canvas, facts_, "the model");
    rows_->prepare(canvas.length());
    return std::make_unique<CausalSequence>(canvas, rules_, config_);
  }

  // All rows of all questions go through one forward, and each row's sums run in an order of their
  // own.
  bool rows_are_independent() const override { return on_cpu_; }
  bool mixes() const override { return true; }

 protected:
  void evaluate(std::span<Pending> batch) override {
    const at::NoGradGuard no_grad;
    std::vector<MemoryRow> source, rows;
    std::vector<std::vector<HeadRow>> answers(batch.size());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      auto& sequence = static_cast<CausalSequence&>(*batch[i].sequence);
      const std::size_t before = source.size() + rows.size();
      sequence.add_source_rows(source);
      sequence.add_rows(*batch[i].question, rows, answers[i]);
      batch[i].rows = std::max(1, batch[i].question->leaves());
      batch[i].positions = static_cast<std::int64_t>(source.size() + rows.size() - before);
    }
    if (!source.empty()) rows_->encode(source);
    if (rows.empty()) return;

    const auto logits = std::make_shared<at::Tensor>(rows_->forward(rows));
    // For each row: where its logits begin.
    std::vector<std::int64_t> line(rows.size(), 0);
    for (std::size_t row = 0, next = 0; row < rows.size(); ++row) {
      line[row] = static_cast<std::int64_t>(next);
      if (rows[row].asked) next += 1 + static_cast<std::size_t>(rows[row].ahead);
    }
    const auto size = static_cast<std::size_t>(facts_.vocabulary);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      for (const HeadRow& from : answers[i]) {
        const float* const its =
            logits->data_ptr<float>() + (line[from.row] + from.head) * facts_.vocabulary;
        batch[i].answer->add(from.node, from.position,
                             Distribution::from_logits(logits, {its, size}, facts_.mask));
      }
    }
  }

 private:
  AutoregressiveOptions options_;
  CausalRules rules_;
  ModelFacts facts_;
  TransformerConfig config_;
  std::optional<TransformerRows> rows_;
  bool on_cpu_ = true;
};

}  // namespace
}  // namespace draftlab

draftlab::Model* draftlab_make_autoregressive(const draftlab::AutoregressiveOptions* options) {
  return new draftlab::Autoregressive(*options);
}
