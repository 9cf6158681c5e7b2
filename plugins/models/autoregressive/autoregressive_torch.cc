// The model `autoregressive` on libtorch: the rows of all questions of a batch go through the
// network together.
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "plugins/models/autoregressive/autoregressive.h"
#include "plugins/models/autoregressive/causal_rows_torch.h"
#include "plugins/models/autoregressive/feature_rows_torch.h"
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

    const std::string base = facts_.digest;
    if (!options_.feature_head.empty()) load_feature_head(loaded);
    PredictionHeads heads;
    if (const std::string& folder = options_.heads.empty() ? options_.checkpoint : options_.heads;
        !options_.heads.empty() || PredictionHeads::stored(folder)) {
      heads = PredictionHeads::load(folder, config_.hidden_size, base);
      facts_.digest += "+" + PredictionHeads::digest(folder);
    }
    if (options_.first_head == FirstHead::base) heads.leave_first_to_base();
    for (const auto& [name, tensor] : heads.named_parameters()) facts_.parameters += tensor.numel();
    rules_ = {options_.cache == RowCache::on, config_.num_hidden_layers, options_.exit_layers,
              std::max(1, static_cast<int>(heads.count)), feature_rows_.has_value()};
    rows_.emplace(std::move(loaded.net), loaded.precision, heads, loaded.device);
  }

  ModelFacts facts() const override { return facts_; }

  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks&) override {
    check_canvas(canvas, facts_, "the model");
    rows_->prepare(canvas.length());
    if (feature_rows_) {
      feature_rows_->prepare(canvas.length());
      return std::make_unique<FeatureSequence>(canvas, rules_, config_, feature_rows_->config());
    }
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
    std::vector<FeatureQuestion> shallow;
    std::vector<Pending*> asked_shallowly;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const std::size_t before = source.size() + rows.size();
      const Question& question = *batch[i].question;
      auto& sequence = static_cast<CausalSequence&>(*batch[i].sequence);
      sequence.add_source_rows(source);
      if (question.shallow && feature_rows_ && !question.asks.empty()) {
        shallow.push_back({.sequence = &static_cast<FeatureSequence&>(sequence),
                           .question = &question,
                           .committed = sequence.add_feature_rows(rows)});
        asked_shallowly.push_back(&batch[i]);
      } else {
        sequence.add_rows(question, rows, answers[i]);
      }
      batch[i].rows = std::max(1, question.leaves());
      batch[i].positions = static_cast<std::int64_t>(source.size() + rows.size() - before);
    }
    if (!source.empty()) rows_->encode(source);
    if (!rows.empty()) answer_deep(batch, rows, answers);
    if (!shallow.empty()) answer_shallow(asked_shallowly, shallow);
  }

 private:
  void load_feature_head(const LoadedDecoder& loaded) {
    if (options_.exit_layers > 0)
      throw ConfigError(
          "model.autoregressive.exit_layers = {} and feature_head = {} both answer shallow "
          "questions; one of them must be left out",
          options_.exit_layers, options_.feature_head);
    if (!on_cpu_)
      throw ConfigError("a feature head is computed on the CPU: run.device must be cpu");
    if (config_.gpt2())
      throw ConfigError("model.autoregressive.feature_head: a checkpoint of family gpt2 has none");
    FeatureHead head = FeatureHead::load(options_.feature_head, config_, facts_.digest);
    facts_.digest += "+" + FeatureHead::digest(options_.feature_head);
    for (const auto& [name, tensor] : head.parameters) facts_.parameters += tensor.numel();
    feature_rows_.emplace(std::move(head), loaded.precision);
  }

  // Sends the rows through the network, and answers what was asked at them.
  void answer_deep(std::span<Pending> batch, const std::vector<MemoryRow>& rows,
                   const std::vector<std::vector<HeadRow>>& answers) const {
    const auto logits = std::make_shared<at::Tensor>(rows_->forward(rows));
    // For each row: where its logits begin.
    std::vector<std::int64_t> line(rows.size(), 0);
    for (std::size_t row = 0, next = 0; row < rows.size(); ++row) {
      line[row] = static_cast<std::int64_t>(next);
      if (rows[row].asked) next += 1 + static_cast<std::size_t>(rows[row].ahead);
    }
    for (std::size_t i = 0; i < batch.size(); ++i)
      for (const HeadRow& from : answers[i])
        batch[i].answer->add(from.node, from.position, law(logits, line[from.row] + from.head));
  }

  // Answers the questions by the feature head, and the target's projection to the vocabulary.
  void answer_shallow(const std::vector<Pending*>& pending,
                      std::vector<FeatureQuestion>& questions) const {
    feature_rows_->answer(questions, *rows_);
    const auto d = static_cast<std::size_t>(config_.hidden_size);
    std::vector<float> states;
    for (const FeatureQuestion& question : questions)
      for (const HeadRow& from : question.answers) {
        const float* const state = FeatureRows::state(question, from);
        states.insert(states.end(), state, state + d);
      }
    const auto logits = std::make_shared<at::Tensor>(
        rows_->logits(states.data(), static_cast<std::int64_t>(states.size() / d)));
    std::int64_t next = 0;
    for (std::size_t i = 0; i < questions.size(); ++i) {
      for (const HeadRow& from : questions[i].answers)
        pending[i]->answer->add(from.node, from.position, law(logits, next++));
      pending[i]->positions += questions[i].rows;
    }
  }

  Distribution law(const std::shared_ptr<at::Tensor>& logits, std::int64_t line) const {
    const float* const its = logits->data_ptr<float>() + line * facts_.vocabulary;
    return Distribution::from_logits(logits, {its, static_cast<std::size_t>(facts_.vocabulary)},
                                     facts_.mask);
  }

  AutoregressiveOptions options_;
  CausalRules rules_;
  ModelFacts facts_;
  TransformerConfig config_;
  std::optional<TransformerRows> rows_;
  std::optional<FeatureRows> feature_rows_;
  bool on_cpu_ = true;
};

}  // namespace
}  // namespace draftlab

draftlab::Model* draftlab_make_autoregressive(const draftlab::AutoregressiveOptions* options) {
  return new draftlab::Autoregressive(*options);
}
