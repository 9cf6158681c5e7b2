// A model: it answers questions about positions by distributions over tokens. This one is a toy
// that can be checked by hand: a token repeats the one to its left with probability `stay`, and is
// any other with what is left, evenly. Where the left neighbour is unknown, the nearest known token
// to the left answers, over so many steps of that chain.
#include <cmath>

#include "core/config/plugin.h"

namespace {

using draftlab::Token;

class Sticky final : public draftlab::Model {
 public:
  struct Options {
    std::int64_t vocabulary = 3;
    double stay = 0.7;
    void declare(draftlab::OptionSet& set) {
      set.add("vocabulary", &vocabulary).in(2, 1000).help("Tokens.");
      set.add("stay", &stay).in(0, 1).help("Probability that a token repeats its left neighbour.");
    }
  };
  explicit Sticky(const Options& options) : options_(options) {}

  // A model with weights would read its checkpoint here.
  void load(const draftlab::Machine&) override {}

  draftlab::ModelFacts facts() const override {
    draftlab::ModelFacts facts;
    facts.vocabulary = static_cast<int>(options_.vocabulary);
    facts.family = "sticky";
    facts.parameters = 1;
    return facts;
  }

  // A model with a cache derives a class from Sequence and keeps the cache in it.
  std::unique_ptr<draftlab::Sequence> open(const draftlab::Canvas& canvas,
                                           const draftlab::Blocks&) override {
    for (const Token token : canvas.tokens())
      if (token >= options_.vocabulary)
        throw draftlab::ConfigError("the prompt holds token {}, but model.sticky.vocabulary is {}",
                                    token, options_.vocabulary);
    return std::make_unique<draftlab::Sequence>(canvas);
  }

  bool rows_are_independent() const override { return true; }

 private:
  // One forward for a batch of questions that are alike. Neither the count of forwards nor their
  // time is kept here; the base class does that.
  void evaluate(std::span<draftlab::Pending> batch) override {
    for (draftlab::Pending& pending : batch) {
      const draftlab::Question& question = *pending.question;
      pending.positions = static_cast<std::int64_t>(question.nodes.size());
      if (!question.nodes.empty()) pending.rows = question.leaves();
      for (const draftlab::Ask& ask : question.asks) {
        for (const std::int32_t position : ask.positions)
          pending.answer->add(ask.node, position,
                              law(pending.sequence->canvas, question, ask.node, position));
        pending.positions += static_cast<std::int64_t>(ask.positions.size());
      }
    }
  }

  // The law of a position given what is committed and what is drafted on the way to `node`.
  draftlab::Distribution law(const draftlab::Canvas& canvas, const draftlab::Question& question,
                             int node, std::int32_t position) const {
    std::vector<Token> seen = canvas.tokens();
    for (int at = node; at != draftlab::kRoot; at = question.nodes[at].parent)
      seen[question.nodes[at].position] = question.nodes[at].token;
    std::int32_t left = position - 1;
    while (left >= 0 && seen[left] == draftlab::kNoToken) --left;
    const int size = static_cast<int>(options_.vocabulary);
    if (left < 0) return draftlab::Distribution::uniform(size);
    const double even = 1.0 / size;
    const double other = (1 - options_.stay) / (size - 1);
    const double kept = std::pow(options_.stay - other, position - left);
    Eigen::ArrayXd law = Eigen::ArrayXd::Constant(size, even * (1 - kept));
    law[seen[left]] += kept;
    return draftlab::Distribution(std::move(law));
  }

  Options options_;
};

}  // namespace

DRAFTLAB_SHARED_PLUGIN() {
  using draftlab::Form;
  registries.models.add<Sticky>("sticky", "a token repeats its left neighbour with `stay`",
                                {Form::committed, Form::chain});
}
