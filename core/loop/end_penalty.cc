#include "core/loop/end_penalty.h"

#include <cmath>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/model/wrapped.h"

namespace draftlab {
namespace {

class Penalised final : public Model {
 public:
  Penalised(std::shared_ptr<Model> model, double penalty)
      : model_(std::move(model)), stops_(model_->facts().stops), kept_(std::exp(-penalty)) {}

  void load(const Machine&) override {}
  void compute_with(int threads) override { model_->compute_with(threads); }
  ModelFacts facts() const override { return model_->facts(); }
  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks& blocks) override {
    return std::make_unique<WrappedSequence>(canvas, model_->open(canvas, blocks));
  }
  std::optional<Question> due(const Sequence& sequence) const override {
    return model_->due(*static_cast<const WrappedSequence&>(sequence).inner);
  }
  bool rows_are_independent() const override { return model_->rows_are_independent(); }
  bool mixes() const override { return model_->mixes(); }

 private:
  void evaluate(std::span<Pending> batch) override {
    std::vector<Answer> answers(batch.size());
    std::vector<Pending> asked;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      auto& sequence = static_cast<WrappedSequence&>(*batch[i].sequence);
      asked.push_back({sequence.inner.get(), batch[i].question, &answers[i]});
    }
    model_->answer(asked);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      asked[i].sequence = batch[i].sequence;
      asked[i].answer = batch[i].answer;
      batch[i] = asked[i];
      for (const Ask& ask : batch[i].question->asks)
        for (const std::int32_t position : ask.positions)
          if (const Distribution* const law = answers[i].find(ask.node, position))
            batch[i].answer->add(ask.node, position, penalised(*law));
    }
  }
  // A law whose whole mass is on ends has nothing else to draw, and stays.
  Distribution penalised(const Distribution& law) const {
    Eigen::ArrayXd weights = law.probabilities();
    for (const Token stop : stops_) weights[stop] *= kept_;
    return weights.sum() > 0 ? Distribution(std::move(weights)) : law;
  }

  const std::shared_ptr<Model> model_;
  const std::vector<Token> stops_;
  // What an end's weight is multiplied by.
  const double kept_;
};

}  // namespace

std::shared_ptr<Model> with_end_penalty(std::shared_ptr<Model> model, double penalty) {
  if (model->facts().stops.empty())
    throw ConfigError("decode.end_penalty = {}: the model '{}' has no end-of-text token", penalty,
                      model->facts().family);
  return std::make_shared<Penalised>(std::move(model), penalty);
}

}  // namespace draftlab
