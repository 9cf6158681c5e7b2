// Decodes a toy model with draftlab as a library: without a config file, a trace or HDF5.
#include <iostream>

#include "core/loop/decoder.h"

using namespace draftlab;

// Of three tokens, the model gives position i mostly to token i mod 3.
struct Toy final : Model {
  void load(const Machine&) override {}
  ModelFacts facts() const override {
    ModelFacts facts;
    facts.vocabulary = 3;
    return facts;
  }
  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks&) override {
    return std::make_unique<Sequence>(canvas);
  }
  void evaluate(std::span<Pending> batch) override {
    for (Pending& pending : batch)
      for (const Ask& ask : pending.question->asks)
        for (const std::int32_t i : ask.positions) {
          Eigen::ArrayXd weights = Eigen::ArrayXd::Ones(3);
          weights[i % 3] = 8;
          pending.answer->add(ask.node, i, Distribution(weights));
        }
  }
};

// Opens all masked positions, from left to right.
struct LeftToRight final : Frontier {
  bool done(const Canvas& canvas) const override { return canvas.masked_positions().empty(); }
  Window next(const Canvas& canvas) const override { return {canvas.masked_positions()}; }
};

// Draws all of them independently of each other, by one question.
struct Independent final : Drafter {
  Asking<Proposal> propose(const Step& step) const override {
    Question question;
    question.asks = {{kRoot, step.window.positions}};
    const Answer answer = co_await step.ask(std::move(question));
    Proposal proposal;
    for (const std::int32_t i : step.window.positions) {
      const Distribution law = step.drawn(answer.at(kRoot, i));
      proposal.nodes.push_back({kRoot, i, step.draw(law, i, 0, Purpose::draft)});
      proposal.drawn_from.push_back(law);
    }
    co_return proposal;
  }
};

struct Never final : Router {
  bool may_verify() const override { return false; }
  Route decide(const StepView&) const override { return {.verify = false}; }
};

// Commits the drafts that the model thought likely, and the first.
struct Likely final : Unmasker {
  Verdict choose(const Step& step, const Proposal& proposal) const override {
    Verdict verdict{.commits = {}, .edits = {}, .why = Stop::unverified, .carry = {}, .judged = {}};
    for (std::size_t i = 0; i < proposal.nodes.size(); ++i)
      if (i == 0 ||
          proposal.drawn_from[i].probability(proposal.nodes[i].token) > step.decode.threshold)
        verdict.commits.push_back(commit_of(proposal.nodes[i], Source::threshold));
    return verdict;
  }
  int preview(const Step&, const Proposal&) const override { return 0; }
};

int main() {
  Arm arm;
  arm.models = {{"", factory_of<Toy, Model>("toy")}};
  arm.frontier = factory_of<LeftToRight, Frontier>("left-to-right");
  arm.drafter = factory_of<Independent, Drafter>("independent");
  arm.router = factory_of<Never, Router>("never");
  arm.unmasker = factory_of<Likely, Unmasker>("likely");
  arm.decode.threshold = 0.5;

  Loaded loaded;
  const Models models = load_models(arm, Machine{}, loaded);
  SampledChance chance(1);
  Prompt prompt;
  prompt.length = 12;
  prompt.given = {{0, 2}};
  Decoder decoder(arm, models, prompt, {chance, 0});
  const SampleRow row = drive(models, decoder, decoder.decode());
  for (const Token token : decoder.canvas().tokens()) std::cout << token << " ";
  std::cout << "in " << row.counts.nfe() << " function evaluations\n";
}
