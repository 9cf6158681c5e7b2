// The model `autoregressive` on libtorch: the rows of all questions of a batch go through the
// network together.
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "plugins/models/autoregressive/autoregressive.h"
#include "plugins/models/autoregressive/causal_rows_torch.h"
#include "plugins/models/autoregressive/feature_rows_torch.h"
#include "plugins/models/autoregressive/hydra_rows_torch.h"
#include "plugins/models/nn/transformer/decoder_model_torch.h"
#include "plugins/models/nn/transformer/device_rows_torch.h"

namespace draftlab {
namespace {

class Autoregressive final : public DecoderModel {
 public:
  explicit Autoregressive(const AutoregressiveOptions& options) : options_(options) {
    require_checkpoint(options_.checkpoint);
  }

  void load(const Machine& machine) override {
    LoadedDecoder loaded = load_decoder(options_.checkpoint, options_.dtype, machine);
    if (!config_.right_shifted())
      throw DataError(
          "{}/config.json: model_type '{}' does not tell the next token; model = {} decodes with "
          "it",
          options_.checkpoint, config_.model_type,
          config_.block_size > 0 ? "block-diffusion" : "masked-diffusion");
    if (options_.exit_layers >= config_.num_hidden_layers) {
      throw ConfigError(
          "model.autoregressive.exit_layers = {} must be fewer than the checkpoint's {} layers",
          options_.exit_layers, config_.num_hidden_layers);
    }
    facts_ = decoder_facts(loaded, options_.checkpoint, options_.longest);
    const std::string base = facts_.digest;
    if (!options_.feature_head.empty()) load_feature_head(loaded);
    if (!options_.hydra_heads.empty()) load_hydra_heads(loaded, base);
    PredictionHeads heads;
    if (const std::string& folder = options_.heads.empty() ? options_.checkpoint : options_.heads;
        !options_.heads.empty() || PredictionHeads::stored(folder)) {
      heads = PredictionHeads::load(folder, config_.hidden_size, base);
      facts_.digest += "+" + PredictionHeads::digest(folder);
    }
    if (options_.first_head == FirstHead::base) heads.leave_first_to_base();
    for (const auto& [name, tensor] : heads.named_parameters()) facts_.parameters += tensor.numel();
    rules_ = {options_.cache == RowCache::on, config_.num_hidden_layers, options_.exit_layers,
              std::max(1, static_cast<int>(heads.count)), feature_size_};
    rows_.emplace(std::move(loaded.net), loaded.precision, heads, loaded.tensors);
    if (feature_rows_) rows_->tap(feature_rows_->taps());
  }

  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks&) override {
    const bool windowed = config_.sliding_window > 0 && facts_.longest == config_.sliding_window;
    check_canvas(
        canvas, facts_,
        windowed ? "the 'sliding_window' of " + options_.checkpoint + "/config.json" : "the model");
    rows_->prepare(canvas.length());
    if (feature_rows_) {
      feature_rows_->prepare(canvas.length());
      return std::make_unique<FeatureSequence>(canvas, rules_, config_, *feature_rows_);
    }
    return std::make_unique<CausalSequence>(canvas, rules_, config_);
  }

 protected:
  void evaluate(std::span<Pending> batch) override {
    const at::NoGradGuard no_grad;
    std::vector<MemoryRow> source, rows;
    std::vector<std::vector<HeadRow>> answers(batch.size());
    std::vector<FeatureQuestion> shallow;
    std::vector<HydraQuestion> hydra;
    std::vector<Pending*> asked_shallowly;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const std::size_t before = source.size() + rows.size();
      const Question& question = *batch[i].question;
      auto& sequence = static_cast<CausalSequence&>(*batch[i].sequence);
      sequence.add_source_rows(source);
      batch[i].layers = question.shallow ? shallow_layers() : rules_.layers;
      if (question.shallow && feature_rows_ && !question.asks.empty()) {
        shallow.push_back({.sequence = &static_cast<FeatureSequence&>(sequence),
                           .question = &question,
                           .committed = sequence.add_feature_rows(rows)});
        asked_shallowly.push_back(&batch[i]);
      } else if (question.shallow && hydra_rows_ && !question.asks.empty()) {
        hydra.push_back({&sequence, &question, sequence.add_feature_rows(rows)});
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
    if (!hydra.empty()) answer_hydra(asked_shallowly, hydra);
  }

 private:
  // The layers that answer a shallow question: one in a feature head, and none in Hydra's heads.
  std::int64_t shallow_layers() const { return feature_rows_ ? 1 : hydra_rows_ ? 0 : rules_.exit; }

  void load_feature_head(const LoadedDecoder& loaded) {
    check_shallow("feature_head", options_.feature_head);
    FeatureHead head = FeatureHead::load(options_.feature_head, config_, facts_.digest);
    facts_.digest += "+" + FeatureHead::digest(options_.feature_head);
    for (const auto& [name, tensor] : head.parameters) facts_.parameters += tensor.numel();
    feature_size_ = static_cast<std::size_t>(head.read_width());
    feature_rows_.emplace(std::move(head), config_.vocab_size, loaded.precision);
  }

  void load_hydra_heads(const LoadedDecoder& loaded, const std::string& base) {
    check_shallow("hydra_heads", options_.hydra_heads);
    const HydraHeads heads = HydraHeads::load(options_.hydra_heads, config_.hidden_size, base);
    facts_.digest += "+" + HydraHeads::digest(options_.hydra_heads);
    for (const auto& [name, tensor] : heads.named_parameters()) facts_.parameters += tensor.numel();
    feature_size_ = static_cast<std::size_t>(config_.hidden_size);
    hydra_rows_.emplace(heads, config_.hidden_size, loaded.precision);
  }

  // Checks that what answers shallow questions, an option and its folder, can do so, and alone.
  void check_shallow(const char* option, const std::string& folder) const {
    const auto both = [&](const std::string& other) {
      throw ConfigError(
          "model.autoregressive.{} and {} = {} both answer shallow questions; one of them must be "
          "left out",
          other, option, folder);
    };
    if (options_.exit_layers > 0) both("exit_layers = " + std::to_string(options_.exit_layers));
    if (!options_.feature_head.empty() && !options_.hydra_heads.empty())
      both(option == std::string_view("feature_head") ? "hydra_heads = " + options_.hydra_heads
                                                      : "feature_head = " + options_.feature_head);
    if (!own_kernels_)
      throw ConfigError("model.autoregressive.{} is computed on the CPU: run.device must be cpu",
                        option);
    if (config_.learned_positions())
      throw ConfigError("model.autoregressive.{}: a checkpoint with learned positions has none",
                        option);
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

  // Answers the questions by the feature head, and the projection to the vocabulary.
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
    const auto logits = std::make_shared<at::Tensor>(feature_rows_->logits(states, *rows_));
    std::int64_t next = 0;
    for (std::size_t i = 0; i < questions.size(); ++i) {
      for (const HeadRow& from : questions[i].answers)
        pending[i]->answer->add(from.node, from.position, law(logits, next++));
      pending[i]->positions += questions[i].rows;
    }
  }

  // Answers the questions by Hydra's heads, and the target's projection to the vocabulary.
  void answer_hydra(const std::vector<Pending*>& pending,
                    const std::vector<HydraQuestion>& questions) const {
    std::vector<HydraAsk> asks;
    std::vector<Pending*> asked_by;
    for (std::size_t i = 0; i < questions.size(); ++i) {
      for (HydraAsk& ask : hydra_rows_->asks(questions[i])) {
        asks.push_back(std::move(ask));
        asked_by.push_back(pending[i]);
        ++pending[i]->positions;
      }
    }
    const std::vector<float> states = hydra_rows_->states(asks, *rows_);
    const auto logits = std::make_shared<at::Tensor>(
        rows_->logits(states.data(), static_cast<std::int64_t>(asks.size())));
    for (std::size_t i = 0; i < asks.size(); ++i)
      asked_by[i]->answer->add(asks[i].node, asks[i].position,
                               law(logits, static_cast<std::int64_t>(i)));
  }

  AutoregressiveOptions options_;
  CausalRules rules_;
  // The numbers that are kept of a token for what drafts from it.
  std::size_t feature_size_ = 0;
  std::optional<FeatureRows> feature_rows_;
  std::optional<HydraRows> hydra_rows_;
};

}  // namespace
}  // namespace draftlab

draftlab::Model* draftlab_make_autoregressive(const draftlab::AutoregressiveOptions* options) {
  return new draftlab::Autoregressive(*options);
}
