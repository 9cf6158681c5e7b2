#include "experiments/certify/repeated_answers.h"

#include <algorithm>
#include <unordered_map>

#include "core/base/error.h"
#include "core/model/wrapped.h"

namespace draftlab {
namespace {

double total_variation(const Distribution& a, const Distribution& b) {
  return (a.probabilities() - b.probabilities()).abs().sum() / 2;
}

class Steady final : public Model {
 public:
  Steady(std::shared_ptr<Model> model, std::shared_ptr<Arithmetic> arithmetic)
      : model_(std::move(model)), facts_(model_->facts()), arithmetic_(std::move(arithmetic)) {}

  void load(const Machine&) override {}
  // The facts are read once, so that a model cannot change them for the reference.
  ModelFacts facts() const override { return facts_; }
  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks& blocks) override {
    return std::make_unique<Wrapped>(canvas, blocks, model_->open(canvas, blocks));
  }
  std::optional<Question> due(const Sequence& sequence) const override {
    return model_->due(*static_cast<const Wrapped&>(sequence).inner);
  }
  bool rows_are_independent() const override { return model_->rows_are_independent(); }
  bool mixes() const override { return model_->mixes(); }

 private:
  struct Wrapped final : WrappedSequence {
    Wrapped(const Canvas& its, const Blocks& cut, std::unique_ptr<Sequence> wrapped)
        : WrappedSequence(its, std::move(wrapped)), blocks(cut) {}
    // What an answer may depend on besides the tokens and the question.
    std::string circumstances() const {
      return "blocks of " + std::to_string(blocks.size) + " from " + std::to_string(blocks.origin) +
             " in parts of " + std::to_string(blocks.part) + ", " + state();
    }
    const Blocks blocks;
  };

  void evaluate(std::span<Pending> batch) override {
    std::vector<Answer> answers(batch.size());
    std::vector<Pending> asked;
    std::vector<std::string> states;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      auto& sequence = static_cast<Wrapped&>(*batch[i].sequence);
      states.push_back(sequence.circumstances());
      asked.push_back({sequence.inner.get(), batch[i].question, &answers[i]});
    }
    model_->answer(asked);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      batch[i].rows = asked[i].rows;
      batch[i].positions = asked[i].positions;
      level(batch[i], answers[i], states[i]);
    }
  }

  // What was answered to the same tokens at the same position: the answers that are further apart
  // than rounding explains, and the first answer to each question.
  using FirstAnswer = std::pair<std::string, Distribution>;
  struct Answered {
    std::vector<Distribution> different;
    std::vector<FirstAnswer> first;
  };

  void level(Pending& pending, Answer& answer, const std::string& state) {
    const Question& question = *pending.question;
    const std::string asked =
        std::string(name(question.kind)) + " " + std::string(name(question.view)) + " " + state;
    for (const Ask& ask : question.asks)
      for (const std::int32_t position : ask.positions) {
        const Distribution* const law = answer.find(ask.node, position);
        if (!law) continue;
        Answered& answered = answered_[what_is_seen(pending, ask.node, position)];
        refuse_another(answered, asked, position, *law);
        pending.answer->add(ask.node, position, like_before(answered, *law));
      }
  }

  // The tokens that the position may depend on, in the order in which they were or would be
  // committed, as the bytes of pairs (position, token); what a masked position only shows has a
  // negative one. The prompt is the same in all decodes of a certificate.
  static std::string what_is_seen(const Pending& pending, int node, std::int32_t position) {
    const Canvas& canvas = pending.sequence->canvas;
    const Question& question = *pending.question;
    std::string seen;
    seen.reserve(128);
    const auto add = [&](std::int32_t at, std::int32_t token) {
      seen.append(reinterpret_cast<const char*>(&at), sizeof at);
      seen.append(reinterpret_cast<const char*>(&token), sizeof token);
    };
    add(position, question.shallow);
    for (const std::int32_t at : canvas.order()) add(at, canvas.token(at));
    for (std::int32_t at = 0; at < canvas.length(); ++at)
      if (canvas.masked(at) && canvas.shown(at) != kNoToken) add(-1 - at, canvas.shown(at));
    // A head that reads hidden states has the target's for what is committed, and its own guesses
    // for what is drafted (EAGLE); to all other answers a drafted token is as good as a committed
    // one.
    if (question.shallow) add(canvas.length(), kNoToken);
    std::vector<int> path;
    for (int at = node; at != kRoot; at = question.nodes[at].parent) path.push_back(at);
    for (auto at = path.rbegin(); at != path.rend(); ++at)
      add(question.nodes[*at].position, question.nodes[*at].token);
    return seen;
  }

  // Returns the earlier answer that this one repeats, and itself where there is none.
  const Distribution& like_before(Answered& answered, const Distribution& law) {
    for (const Distribution& before : answered.different) {
      const double distance = total_variation(before, law);
      if (distance > arithmetic_->bound()) continue;
      arithmetic_->largest = std::max(arithmetic_->largest, distance);
      return before;
    }
    return answered.different.emplace_back(law);
  }

  void refuse_another(Answered& answered, const std::string& asked, std::int32_t position,
                      const Distribution& law) {
    const auto before = std::ranges::find(answered.first, asked, &FirstAnswer::first);
    if (before == answered.first.end()) {
      answered.first.emplace_back(asked, law);
      return;
    }
    const double distance = total_variation(before->second, law);
    if (distance <= arithmetic_->bound()) return;
    throw DataError(
        "the model '{}' answered one question about position {} in two ways that are {:.3g} apart "
        "in total variation, where its precision explains at most {:.3g}; what it answers must "
        "depend on what it is asked, and nothing else",
        facts_.family, position, distance, arithmetic_->bound());
  }

  std::shared_ptr<Model> model_;
  const ModelFacts facts_;
  std::shared_ptr<Arithmetic> arithmetic_;
  std::unordered_map<std::string, Answered> answered_;  // by what is seen
};

}  // namespace

double Arithmetic::bound() const { return explained_by_rounding(unit); }

SteadyModels steady(const Models& models) {
  SteadyModels made{.models = models, .arithmetic = std::make_shared<Arithmetic>()};
  for (auto& model : made.models.models) {
    made.arithmetic->unit = std::max(made.arithmetic->unit, model->facts().rounding);
    model = std::make_shared<Steady>(model, made.arithmetic);
  }
  return made;
}

}  // namespace draftlab
