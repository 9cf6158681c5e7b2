// The model `block-diffusion` on libtorch: the rows of all questions of a batch go through the
// network together.
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "core/base/words.h"
#include "plugins/models/block_diffusion/block_diffusion.h"
#include "plugins/models/block_diffusion/block_rows_torch.h"
#include "plugins/models/nn/transformer/decoder_model_torch.h"
#include "plugins/models/nn/transformer/device_rows_torch.h"

namespace draftlab {
namespace {

// So many rows of prompts and finished blocks go through one forward of the network.
constexpr std::size_t kMostRows = 256;

class BlockDiffusion final : public DecoderModel {
 public:
  explicit BlockDiffusion(const BlockDiffusionOptions& options) : options_(options) {
    require_checkpoint(options_.checkpoint);
  }

  void load(const Machine& machine) override {
    LoadedDecoder loaded = load_decoder(options_.checkpoint, options_.dtype, machine);
    rules_.causal_cache = options_.cache == SeenRows::causal;
    rules_.causal_draft = options_.draft_mask == SeenRows::causal;
    rules_.ride = options_.commit == BlockCommit::ride;
    rules_.whole_block = options_.verify_rows == VerifiedRows::block;
    rules_.part_cache = options_.sub_block_cache;
    rules_.shifted = is_right_shifted(options_.shifted, config_.right_shifted());
    rules_.mask = static_cast<Token>(config_.mask_token_id);
    if (config_.num_encoder_layers > 0)
      throw DataError("{}/config.json: has an encoder, which model = autoregressive decodes with",
                      options_.checkpoint);
    if (config_.conditioned())
      throw DataError(
          "{}/config.json: its layers read the canvas's noise level, which model = "
          "masked-diffusion "
          "tells them",
          options_.checkpoint);
    if (rules_.mask < 0)
      throw DataError("{}/config.json: has no 'mask_token_id'", options_.checkpoint);

    facts_ = decoder_facts(loaded, options_.checkpoint, options_.longest);
    rows_.emplace(std::move(loaded.net), loaded.precision, PredictionHeads{}, loaded.tensors);
  }

  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks& blocks) override {
    check_canvas(canvas, facts_, "block-diffusion");
    if (rules_.part_cache != PartCache::off && blocks.part == 0)
      throw ConfigError(
          "model.block-diffusion.sub_block_cache = {} needs sub-blocks; decode.sub_block is 0",
          word(options_.sub_block_cache));
    if (rules_.shifted && canvas.masked(0))
      throw ConfigError("a model with right-shifted logits needs a prompt token at position 0");
    rows_->prepare(canvas.length());
    return std::make_unique<BlockSequence>(canvas, blocks, rules_, config_);
  }

  std::optional<Question> due(const Sequence& sequence) const override {
    const auto& own = static_cast<const BlockSequence&>(sequence);
    const std::optional<BlockSequence::Due> due = own.due();
    if (!due) return std::nullopt;
    Question question{.kind = due->kind, .view = View::causal, .nodes = {}, .asks = {}};
    if (rules_.shifted && due->end < own.canvas.length() && own.canvas.masked(due->end))
      question.asks.push_back({kRoot, {due->end}});
    return question;
  }

 protected:
  void evaluate(std::span<Pending> batch) override {
    const at::NoGradGuard no_grad;
    Gathered gathered;
    for (Pending& pending : batch) {
      auto& sequence = static_cast<BlockSequence&>(*pending.sequence);
      const std::int32_t end = sequence.begin(*pending.question);
      pending.positions = 0;
      pending.layers = config_.num_hidden_layers;
      for (std::size_t before = gathered.rows.size(); sequence.add_final_rows(end, gathered.rows);
           before = gathered.rows.size()) {
        pending.positions += static_cast<std::int64_t>(gathered.rows.size() - before);
        if (gathered.rows.back().asked)
          gathered.boundaries.emplace_back(&sequence, gathered.rows.size() - 1);
        if (gathered.rows.size() >= kMostRows) forward(gathered);
      }
    }
    std::vector<std::vector<AnswerRow>> answers(batch.size());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const std::size_t before = gathered.rows.size();
      static_cast<BlockSequence*>(batch[i].sequence)
          ->add_question_rows(*batch[i].question, gathered.rows, answers[i]);
      batch[i].rows = std::max(1, batch[i].question->leaves());
      batch[i].positions += static_cast<std::int64_t>(gathered.rows.size() - before);
    }
    const std::vector<Distribution> distributions = forward(gathered);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      for (const AnswerRow& from : answers[i]) {
        const bool boundary = from.row == AnswerRow::kBoundary;
        const Distribution& distribution =
            boundary ? static_cast<BlockSequence*>(batch[i].sequence)->boundary
                     : distributions[from.row];
        if (distribution.empty())
          throw Fault("position {} was asked, but the row before it was never computed",
                      from.position);
        batch[i].answer->add(from.node, from.position, distribution);
      }
    }
  }

 private:
  struct Gathered {
    std::vector<MemoryRow> rows;
    // The rows that are the last cached ones of their sequences.
    std::vector<std::pair<BlockSequence*, std::size_t>> boundaries;
  };

  // Computes what was gathered. Returns the asked rows' distributions, by row.
  std::vector<Distribution> forward(Gathered& gathered) const {
    std::vector<Distribution> distributions(gathered.rows.size());
    if (gathered.rows.empty()) return distributions;
    const auto logits = std::make_shared<at::Tensor>(rows_->forward(gathered.rows));
    std::int64_t line = 0;
    for (std::size_t row = 0; row < distributions.size(); ++row)
      if (gathered.rows[row].asked) distributions[row] = law(logits, line++);
    for (const auto& [sequence, row] : gathered.boundaries) sequence->boundary = distributions[row];
    gathered = {};
    return distributions;
  }

  BlockDiffusionOptions options_;
  BlockRules rules_;
};

}  // namespace
}  // namespace draftlab

draftlab::Model* draftlab_make_block_diffusion(const draftlab::BlockDiffusionOptions* options) {
  return new draftlab::BlockDiffusion(*options);
}
