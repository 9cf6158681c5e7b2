#include "core/config/unread.h"

#include <doctest/doctest.h>

#include <set>

#include "core/base/error.h"
#include "core/config/composition.h"

namespace draftlab {
namespace {

// Parts that do nothing but say which options they read.
struct Mute final : Model {
  void load(const Machine&) override {}
  ModelFacts facts() const override { return {}; }
  std::unique_ptr<Sequence> open(const Canvas&, const Blocks&) override { return nullptr; }
  void evaluate(std::span<Pending>) override {}
};
struct Ordered final : Frontier {
  bool done(const Canvas&) const override { return true; }
  Window next(const Canvas&) const override { return {}; }
};
struct Edits final : Frontier {
  std::vector<DecodeKey> reads() const override { return {DecodeKey::post_steps}; }
  bool done(const Canvas&) const override { return true; }
  Window next(const Canvas&) const override { return {}; }
};
struct Chain final : Drafter {
  Asking<Proposal> propose(const Step&) const override { co_return Proposal{}; }
};
struct Stepwise final : Drafter {
  std::vector<DecodeKey> reads() const override { return {}; }
  Asking<Proposal> propose(const Step&) const override { co_return Proposal{}; }
};
struct Judge final : Verifier {
  Asking<Verdict> judge(const Step&, const Proposal&, const Acceptance&) const override {
    co_return Verdict{};
  }
};
struct Rule final : Acceptance {
  double probability(const Trial&) const override { return 1; }
  Distribution replacement(const Trial&) const override { return {}; }
};
struct Constant final : Router {
  Route decide(const StepView&) const override { return {}; }
};
struct Usual : Unmasker {
  Verdict choose(const Step&, const Proposal&) const override { return {}; }
  int preview(const Step&, const Proposal&) const override { return 0; }
};
struct One final : Usual {
  std::vector<DecodeKey> reads() const override { return {}; }
};
struct NoTask final : Task {
  void load(const Tokenizer*) override {}
  int size() const override { return 0; }
  Prompt prompt(int) const override { return {}; }
  std::vector<Score> score(const Prompt&, const Canvas&) const override { return {}; }
  std::string text(const Prompt&, const Canvas&) const override { return {}; }
};

Registries plugins_of_options() {
  Registries all;
  all.models.add<Mute>("silent", "says nothing", {Form::committed, Form::chain});
  all.frontiers.add<Ordered>("lattice", "an order");
  all.frontiers.add<Edits>("edits", "an order with edits");
  all.drafters.add<Chain>("self", "a chain");
  all.drafters.add<Stepwise>("stepwise", "one token");
  all.verifiers.add<Judge>("chain", "judges");
  all.acceptance.add<Rule>("speculative", "accepts");
  all.routers.add<Constant>("always", "verifies");
  all.unmaskers.add<One>("one", "reads nothing");
  all.unmaskers.add<Usual>("usual", "reads what most read");
  all.tasks.add<NoTask>("nothing", "has no prompts");
  return all;
}

// What a user is told of a config whose first two lines name the model and the task.
std::vector<std::string> told(const std::string& lines) {
  const Registries all = plugins_of_options();
  Diagnostics diagnostics;
  const Config config =
      Config::parse("model = silent\ntask = nothing\n" + lines, "a.ini", diagnostics);
  UnreadInArms unread;
  for (const Cell& cell : expand(config, all, diagnostics))
    unread.add(cell.label, composition_of(cell, all, diagnostics));
  CHECK(diagnostics.sentences() == std::vector<std::string>());
  return unread.sentences();
}

using Sentences = std::vector<std::string>;

TEST_CASE("an option that no part reads is named, with its place") {
  CHECK(told("[decode]\nthreshold = 0.5\nsteps = 2\ntemperature = 0.5\n") ==
        Sentences{"a.ini:5: decode.steps has no effect: no part of the arm reads it",
                  "a.ini:4: decode.threshold has no effect: no part of the arm reads it"});
  CHECK(told("unmasker = usual\n[decode]\nthreshold = 0.5\nsteps = 2\n") == Sentences{});
  CHECK(told("unmasker = one\n") == Sentences{});  // Nothing is set.
}

TEST_CASE("an axis that no part reads makes equal cells, which are named") {
  CHECK(told("[sweep]\ndecode.threshold = 0.2, 0.9\n") ==
        Sentences{"a.ini:4: decode.threshold has no effect: no part of any cell reads it; these "
                  "decode alike: 'decode.threshold=0.2' and 'decode.threshold=0.9'"});
  CHECK(told("unmasker = usual\n[sweep]\ndecode.threshold = 0.2, 0.9\n") == Sentences{});
}

TEST_CASE("an axis that only some cells read is told of where it makes equal cells") {
  CHECK(told("[sweep]\nunmasker = one, usual\ndecode.threshold = 0.2, 0.9\n") ==
        Sentences{"a.ini:5: decode.threshold has no effect in 2 of 4 cells: no part of theirs "
                  "reads it; these decode alike: 'unmasker=one decode.threshold=0.2' and "
                  "'unmasker=one decode.threshold=0.9'"});
  // A value that all cells share is read by one of them.
  CHECK(told("[decode]\nthreshold = 0.5\n[sweep]\nunmasker = one, usual\n") == Sentences{});
  CHECK(told("[sweep]\nunmasker = one, usual\nrun.seed = 1, 2\n") == Sentences{});
}

TEST_CASE("an option that says more about another one is unread where that is off") {
  CHECK(told("[decode]\nalign = prompt\n").size() == 1);
  CHECK(told("[decode]\nalign = prompt\nblock_size = 4\n") == Sentences{});
  CHECK(told("[decode]\ndraft_stop = 0.3\n").size() == 1);
  CHECK(told("[decode]\ndraft_stop = 0.3\ndraft_rule = likely\n") == Sentences{});
  CHECK(told("[decode]\nrow_cost = 0.3\n").size() == 1);
  CHECK(told("[decode]\nrow_cost = 0.3\ndraft_rule = goodput\n") == Sentences{});
  CHECK(told("[decode]\ndraft_stop = 0.3\ndraft_rule = goodput\n").size() == 1);
  CHECK(told("drafter = stepwise\n[decode]\ndraft_length = 3\n").size() == 1);
  CHECK(told("[decode]\ndraft_length = 3\n") == Sentences{});
  CHECK(told("frontier = edits\n[decode]\npost_steps = 3\n").size() == 1);
  CHECK(told("frontier = edits\n[decode]\npost_steps = 3\nedit_threshold = 0.9\n").size() == 1);
}

TEST_CASE("every key that parts can read is an option of [decode]") {
  DecodeOptions decode;
  OptionSet set;
  decode.declare(set);
  std::set<std::string> names;
  for (const Option& option : set.options()) names.insert(option.name());
  for (const std::string_view key : words(DecodeKey{})) CHECK(names.count(std::string(key)) == 1);
}

}  // namespace
}  // namespace draftlab
