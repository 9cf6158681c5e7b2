// A model and parts that are small enough to follow by hand, for tests of the loop.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/loop/decoder.h"

namespace draftlab::toy {

// Of three tokens, position i gets token i mod 3 with probability 0.8, and the others 0.1 each.
inline Distribution law(std::int32_t position) {
  Eigen::ArrayXd weights = Eigen::ArrayXd::Constant(3, 0.1);
  weights[position % 3] = 0.8;
  return Distribution(weights);
}

struct OfPositions final : Model {
  // How many questions each forward answered.
  std::vector<std::size_t> batches;
  // Whether the prompt needs a forward of its own.
  bool prefills = false;
  // The tokens that end a text.
  std::vector<Token> stops;

  struct Memory final : Sequence {
    using Sequence::Sequence;
    mutable bool filled = false;
  };
  void load(const Machine&) override {}
  ModelFacts facts() const override {
    ModelFacts facts;
    facts.vocabulary = 3;
    facts.stops = stops;
    return facts;
  }
  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks&) override {
    return std::make_unique<Memory>(canvas);
  }
  std::optional<Question> due(const Sequence& sequence) const override {
    const auto& memory = static_cast<const Memory&>(sequence);
    if (!prefills || memory.filled) return std::nullopt;
    memory.filled = true;
    return Question{.kind = Kind::prefill, .nodes = {}, .asks = {}};
  }
  void evaluate(std::span<Pending> batch) override {
    batches.push_back(batch.size());
    for (Pending& pending : batch)
      for (const Ask& ask : pending.question->asks)
        for (const std::int32_t position : ask.positions)
          pending.answer->add(ask.node, position, law(position));
  }
};

// What the parts of a decode were asked, in that order.
using Calls = std::vector<std::string>;

struct LeftToRight final : Frontier {
  explicit LeftToRight(Calls* calls = nullptr) : calls(calls) {}
  bool done(const Canvas& canvas) const override { return canvas.masked_positions().empty(); }
  Window next(const Canvas& canvas) const override {
    if (calls) calls->push_back("frontier.next");
    Window window{canvas.masked_positions()};
    window.span = static_cast<int>(window.positions.size());
    return window;
  }
  std::vector<std::int32_t> settled(const Canvas&) const override {
    if (calls) calls->push_back("frontier.settled");
    return {};
  }
  Calls* calls;
};

// Drafts the most probable token of the next `draft_length` positions, as point masses.
struct Likeliest final : Drafter {
  explicit Likeliest(Calls* calls = nullptr) : calls(calls) {}
  Asking<Proposal> propose(const Step& step) const override {
    if (calls) calls->push_back("drafter.propose");
    const auto& window = step.window.positions;
    const auto count = std::min<std::size_t>(window.size(), step.decode.draft_length);
    Question question;
    question.asks = {{kRoot, {window.begin(), window.begin() + count}}};
    const Answer answer = co_await step.ask(std::move(question));
    Proposal proposal;
    for (std::size_t i = 0; i < count; ++i) {
      const Distribution& raw = answer.at(kRoot, window[i]);
      proposal.nodes.push_back({static_cast<int>(i) - 1, window[i], raw.argmax()});
      proposal.raw.push_back(raw);
    }
    co_return proposal;
  }
  Calls* calls;
};

// Accepts every draft, and asks the target about the first one.
struct AcceptsAll final : Verifier {
  explicit AcceptsAll(Calls* calls = nullptr) : calls(calls) {}
  std::vector<Form> asks() const override { return {Form::chain}; }
  Asking<Verdict> judge(const Step& step, const Proposal& proposal,
                        const Acceptance&) const override {
    if (calls) calls->push_back("verifier.judge");
    Question question;
    question.kind = Kind::verify;
    question.asks = {{kRoot, {proposal.nodes.front().position}}};
    const Answer answer = co_await step.ask(std::move(question));
    Verdict verdict;
    for (const Node& node : proposal.nodes) {
      verdict.commits.push_back(commit_of(node, Source::accepted));
      verdict.judged.push_back({1, 1, 1, true});
    }
    co_return verdict;
  }
  Calls* calls;
};

struct Ratio final : Acceptance {
  double probability(const Trial&) const override { return 1; }
  Distribution replacement(const Trial&) const override { return {}; }
};

// Decides alike in every step.
struct Constant final : Router {
  explicit Constant(bool verify, Calls* calls = nullptr, double score = 0)
      : verify(verify), calls(calls), score(score) {}
  bool may_verify() const override { return verify; }
  Route decide(const StepView&) const override {
    if (calls) calls->push_back("router.decide");
    return {.verify = verify, .score = score};
  }
  void observe(const Canvas&, const Route&, const Verdict&) override {
    if (calls) calls->push_back("router.observe");
  }
  bool verify;
  Calls* calls;
  double score;
};

// Commits the first draft.
struct First final : Unmasker {
  explicit First(Calls* calls = nullptr) : calls(calls) {}
  Verdict choose(const Step&, const Proposal& proposal) const override {
    if (calls) calls->push_back("unmasker.choose");
    Verdict verdict{.commits = {}, .edits = {}, .why = Stop::unverified, .carry = {}, .judged = {}};
    verdict.commits = {commit_of(proposal.nodes.front(), Source::threshold)};
    return verdict;
  }
  int preview(const Step&, const Proposal&) const override { return 0; }
  Verdict top_up(const Step&, const Proposal&, Verdict verdict) const override {
    if (calls) calls->push_back("unmasker.top_up");
    return verdict;
  }
  Calls* calls;
};

// An arm of these parts, whose calls are written to `calls` where it is not null.
inline Arm arm(bool verify, Calls* calls = nullptr) {
  Arm arm;
  arm.models = {{"", {"of-positions", {}, [] { return std::make_unique<OfPositions>(); }}}};
  arm.frontier = {"ltr", {}, [=] { return std::make_unique<LeftToRight>(calls); }};
  arm.drafter = {"likeliest", {}, [=] { return std::make_unique<Likeliest>(calls); }};
  arm.verifier = {"accepts-all", {}, [=] { return std::make_unique<AcceptsAll>(calls); }};
  arm.acceptance = {"ratio", {}, [] { return std::make_unique<Ratio>(); }};
  arm.router = {"constant", {}, [=] { return std::make_unique<Constant>(verify, calls); }};
  arm.unmasker = {"first", {}, [=] { return std::make_unique<First>(calls); }};
  arm.decode.draft_length = 2;
  return arm;
}

inline Models models_of(const Arm& arm) {
  Loaded loaded;
  return load_models(arm, Machine{}, loaded);
}

// A canvas of `length` positions, the first of which holds token 2.
inline Prompt prompt(int length) {
  Prompt prompt;
  prompt.id = "toy";
  prompt.length = length;
  prompt.given = {{0, 2}};
  return prompt;
}

}  // namespace draftlab::toy
