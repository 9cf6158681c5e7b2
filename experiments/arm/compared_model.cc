#include "experiments/arm/compared_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/model/machine.h"
#include "core/model/wrapped.h"

namespace draftlab {
namespace {

// Two tokens whose log probabilities are this near are a tie: sixteen units of single precision.
constexpr double kTie = 16 * unit_roundoff(Precision::f32);
// Total variation above a half is no rounding, however coarse the numbers are. In bf16 tensor
// operations differ from our kernels by up to 0.31 in a row where the processor has no bf16
// products, since only they round rows then.
constexpr double kMost = 0.5;

bool needs_a_forward_of_its_own(const Question& question) {
  return question.kind == Kind::prefill || question.kind == Kind::commit;
}

// The question about one position at one node: the path to it, and nothing beside.
Question of_one_row(const Question& question, int node, std::int32_t position) {
  Question row{.kind = question.kind,
               .view = question.view,
               .nodes = {},
               .asks = {},
               .shallow = question.shallow};
  std::vector<int> path;
  for (int at = node; at != kRoot; at = question.nodes[static_cast<std::size_t>(at)].parent)
    path.push_back(at);
  std::reverse(path.begin(), path.end());
  for (const int at : path) {
    Node placed = question.nodes[static_cast<std::size_t>(at)];
    placed.parent = static_cast<int>(row.nodes.size()) - 1;
    row.nodes.push_back(std::move(placed));
  }
  row.asks.push_back({static_cast<int>(row.nodes.size()) - 1, {position}});
  return row;
}

// Returns the answers of all sequences to the question, as they are computed that way.
std::vector<Answer> ask(const Way& way, const std::vector<Sequence*>& sequences,
                        const Question& question) {
  way.model->compute_with(way.threads);
  std::vector<Answer> answers(sequences.size());
  const auto forward = [&](const Question& asked, std::vector<Answer>& into) {
    std::vector<Pending> batch;
    for (std::size_t i = 0; i < sequences.size(); ++i)
      batch.push_back({sequences[i], &asked, &into[i]});
    way.model->answer(batch);
  };
  if (!way.alone || needs_a_forward_of_its_own(question)) {
    forward(question, answers);
    return answers;
  }
  for (const Ask& asked : question.asks)
    for (const std::int32_t position : asked.positions) {
      const Question row = of_one_row(question, asked.node, position);
      std::vector<Answer> own(sequences.size());
      forward(row, own);
      for (std::size_t i = 0; i < own.size(); ++i)
        answers[i].add(asked.node, position, own[i].at(row.asks[0].node, position));
    }
  return answers;
}

void add_vectors(Agreement& agreement, double apart, double explained) {
  ++agreement.rows;
  agreement.same_bits += apart == 0;
  agreement.faults += !(apart <= explained);
  agreement.variation = std::max(agreement.variation, apart);
}

// The Kullback-Leibler divergence of two normals, in nats.
double divergence(double mean, double sigma, double other_mean, double other_sigma) {
  const double growth = sigma * sigma / (other_sigma * other_sigma) - 1,
               shift = (mean - other_mean) / other_sigma;
  return std::max(0.0, growth - std::log1p(growth) + shift * shift) / 2;
}

class Compared final : public Model {
 public:
  Compared(std::shared_ptr<Model> reference, std::vector<Way> ways,
           std::shared_ptr<Comparison> comparison)
      : reference_{.name = "as asked", .model = std::move(reference)},
        facts_(reference_.model->facts()),
        ways_(std::move(ways)),
        comparison_(std::move(comparison)) {}

  void load(const Machine&) override {}
  ModelFacts facts() const override { return facts_; }
  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks& blocks) override {
    auto opened = std::make_unique<Opened>(canvas, reference_.model->open(canvas, blocks));
    for (const Way& way : ways_) {
      auto& sequences = opened->others.emplace_back();
      for (int i = 0; i < way.sequences; ++i) sequences.push_back(way.model->open(canvas, blocks));
    }
    return opened;
  }
  std::optional<Question> due(const Sequence& sequence) const override {
    return reference_.model->due(*static_cast<const Opened&>(sequence).inner);
  }

 private:
  struct Opened final : WrappedSequence {
    using WrappedSequence::WrappedSequence;
    void restart() override {
      WrappedSequence::restart();
      for (auto& sequences : others)
        for (auto& sequence : sequences) sequence->restart();
    }
    // The sequences of each way.
    std::vector<std::vector<std::unique_ptr<Sequence>>> others;
  };

  void evaluate(std::span<Pending> batch) override {
    for (Pending& pending : batch) {
      auto& opened = static_cast<Opened&>(*pending.sequence);
      *pending.answer = std::move(ask(reference_, {opened.inner.get()}, *pending.question)[0]);
      for (std::size_t i = 0; i < ways_.size(); ++i) {
        std::vector<Sequence*> sequences;
        for (const auto& sequence : opened.others[i]) sequences.push_back(sequence.get());
        for (const Answer& other : ask(ways_[i], sequences, *pending.question))
          compare(i, *pending.question, *pending.answer, other);
      }
    }
  }

  void compare(std::size_t way, const Question& question, const Answer& reference,
               const Answer& other) {
    Agreement& agreement = comparison_->ways[way];
    const double unit = std::max(facts_.rounding, ways_[way].model->facts().rounding);
    const double explained = ways_[way].promised ? 0 : explained_difference(unit);
    for (std::size_t i = 0; i < reference.laws.size(); ++i)
      add_vectors(agreement, distance(reference.laws[i], other.laws[i]), explained);
    for (const Ask& asked : question.asks)
      for (const std::int32_t position : asked.positions)
        if (facts_.dimension > 0)
          add_vectors(agreement,
                      distance(reference.condition(asked.node, position),
                               other.condition(asked.node, position)),
                      explained);
        else
          add_row(agreement,
                  {position, reference.at(asked.node, position), other.at(asked.node, position)},
                  explained, comparison_->prompt);
  }

  const Way reference_;
  const ModelFacts facts_;
  const std::vector<Way> ways_;
  const std::shared_ptr<Comparison> comparison_;
};

}  // namespace

void add_row(Agreement& agreement, const TwoLaws& row, double explained,
             const std::string& prompt) {
  ++agreement.rows;
  const auto& [position, reference, other] = row;
  const auto differences = (reference.probabilities() - other.probabilities()).abs();
  if (differences.maxCoeff() == 0) {
    ++agreement.same_bits;
    return;
  }
  const double variation = differences.sum() / 2;
  const Token first = reference.argmax(), second = other.argmax();
  const double moved = reference.log_probability(first) - other.log_probability(first);
  agreement.variation = std::max(agreement.variation, variation);
  agreement.log_probability = std::max(agreement.log_probability, std::abs(moved));
  const bool fault = variation > explained;
  agreement.faults += fault;
  if (first == second) return;
  OtherChoice choice{.prompt = prompt,
                     .position = position,
                     .reference = first,
                     .token = second,
                     .margin = reference.log_probability(first) - reference.log_probability(second),
                     .other_margin = other.log_probability(first) - other.log_probability(second)};
  choice.cause = fault ? Cause::fault : choice.margin <= kTie ? Cause::tie : Cause::rounding;
  ++agreement.other_choices[static_cast<std::size_t>(choice.cause)];
  if (!agreement.first) agreement.first = choice;
}

double explained_difference(double unit) { return std::min(kMost, explained_by_rounding(unit)); }

double distance(const Eigen::VectorXd& reference, const Eigen::VectorXd& other) {
  const double largest = reference.cwiseAbs().maxCoeff();
  const double change = (reference - other).cwiseAbs().maxCoeff();
  return change == 0 ? 0 : change / largest;
}

double distance(const Mixture& reference, const Mixture& other) {
  double variation = (reference.weights - other.weights).abs().sum() / 2;
  for (std::size_t c = 0; c < reference.mean.size(); ++c) {
    const Eigen::ArrayXd &mean = reference.mean[c], &sigma = reference.sigma[c],
                         &other_mean = other.mean[c], &other_sigma = other.sigma[c];
    if ((mean == other_mean).all() && (sigma == other_sigma).all()) continue;
    double nats = 0;
    for (Eigen::Index j = 0; j < mean.size(); ++j)
      nats += divergence(mean[j], sigma[j], other_mean[j], other_sigma[j]);
    variation += reference.weights[static_cast<Eigen::Index>(c)] * std::sqrt(nats / 2);
  }
  return variation;
}

std::shared_ptr<Model> compared(std::shared_ptr<Model> reference, std::vector<Way> ways,
                                std::shared_ptr<Comparison> comparison) {
  return std::make_shared<Compared>(std::move(reference), std::move(ways), std::move(comparison));
}

}  // namespace draftlab
