// What the loop asks of a router, and when: a router that counts.
#include <doctest/doctest.h>

#include <signal.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/stop_request.h"
#include "core/config/composition.h"
#include "core/loop/decoder.h"
#include "plugins/builtin.h"

using namespace draftlab;

namespace {

int decided = 0, observed = 0;  // The decisions and observations of the decode at hand.

class Counting final : public Router {
 public:
  struct Options {
    void declare(OptionSet&) {}
  };
  explicit Counting(const Options&) {}
  Route decide(const StepView&) const override {
    ++decided;
    return {.verify = true};
  }
  void observe(const Canvas&, const Route&, const Verdict&) override { ++observed; }
  std::string state() const override { return std::to_string(observed); }
};

// Carries what it computed to where it learns, and keeps nothing.
class Carrying final : public Router {
 public:
  struct Options {
    void declare(OptionSet&) {}
  };
  explicit Carrying(const Options&) {}
  Route decide(const StepView& view) const override {
    ++decided;
    return {.verify = true, .flip = 0.5, .memo = {view.entropy.sum(), 0.5 + view.masked}};
  }
  void observe(const Canvas& canvas, const Route& route, const Verdict& verdict) override {
    REQUIRE(route.memo.size() == 2);
    CHECK(std::isfinite(route.memo[0]));
    const auto masked = canvas.masked_positions().size() + verdict.commits.size();
    CHECK(route.memo[1] == 0.5 + static_cast<double>(masked));
    ++observed;
  }
  std::string state() const override { return {}; }
};

// Asks the target for ever.
class Endless final : public Drafter {
 public:
  struct Options {
    void declare(OptionSet&) {}
  };
  explicit Endless(const Options&) {}
  std::vector<Form> asks() const override { return {Form::committed}; }
  Asking<Proposal> propose(const Step& step) const override {
    while (true) {
      Question question;
      question.kind = Kind::draft;
      question.asks = {{kRoot, {step.window.positions.front()}}};
      co_await step.ask(std::move(question));
    }
    co_return Proposal();
  }
};

std::vector<StepView> views;  // What the router of the decode at hand was shown.

class Watching final : public Router {
 public:
  struct Options {
    void declare(OptionSet&) {}
  };
  explicit Watching(const Options&) {}
  Route decide(const StepView& view) const override {
    views.push_back(view);
    return {.verify = true};
  }
};

// Commits nothing, for ever.
class Idle final : public Unmasker {
 public:
  struct Options {
    void declare(OptionSet&) {}
  };
  explicit Idle(const Options&) {}
  Verdict choose(const Step&, const Proposal&) const override { return {}; }
  int preview(const Step&, const Proposal&) const override { return 0; }
  Verdict top_up(const Step&, const Proposal&, Verdict verdict) const override { return verdict; }
};

Composition composed(const std::string& lines) {
  static const Registries registries = [] {
    Registries made;
    register_builtin_plugins(made);
    made.routers.add<Counting>("counting", "counts what it is asked");
    made.routers.add<Carrying>("carrying", "has a memo");
    made.drafters.add<Endless>("endless", "asks for ever");
    made.routers.add<Watching>("watching", "keeps what it is shown");
    made.unmaskers.add<Idle>("idle", "commits nothing");
    return made;
  }();
  Diagnostics diagnostics;
  Composition arm = compose(Config::parse("model = table\ntask = positions\n" + lines +
                                              "\n[model.table]\nlength = 8\n[task.positions]\n"
                                              "length = 8\nprompt = 0:1\n",
                                          "a.ini", diagnostics),
                            registries, diagnostics);
  diagnostics.raise();
  return arm;
}

SampleRow decode(const Composition& arm, std::uint64_t sequence, int most_steps = 100) {
  decided = observed = 0;
  Loaded loaded;
  const Models models = load_models(arm, arm.run.machine, loaded);
  const auto task = arm.task.make();
  task->load(nullptr);
  SampledChance chance(3);
  Decoder decoder(arm, models, task->prompt(0), {chance, sequence});
  for (int step = 0; drive(models, decoder, decoder.step()); ++step)
    if (step > most_steps) FAIL("the decode does not end");
  return decoder.row();
}

}  // namespace

TEST_CASE("drafts that are the target's own draws are neither routed nor learnt from") {
  const SampleRow row = decode(composed("drafter = stepwise\nrouter = counting"), 1);
  CHECK(row.steps.size() == 7);
  CHECK(decided == 0);
  CHECK(observed == 0);
  for (const StepRow& step : row.steps) CHECK(step.routed == -1);
}

TEST_CASE("progress is the share of what is generated, without the prompt") {
  views.clear();
  decode(composed("drafter = self\nrouter = watching\n[decode]\ndraft_length = 2"), 1);
  REQUIRE(views.size() >= 2);
  CHECK(views.front().progress == 0);
  for (const StepView& view : views) {
    CHECK(view.length == 8);  // One of them is the prompt's.
    CHECK(view.progress == doctest::Approx((7 - view.masked) / 7.0));
  }
}

TEST_CASE("a router learns from the steps that it decided, and from no others between them") {
  const Composition arm = composed("drafter = self\nrouter = counting\n[decode]\ndraft_length = 3");
  int undecided = 0, asked = 0;
  for (std::uint64_t sequence = 0; sequence < 40; ++sequence) {
    const SampleRow row = decode(arm, sequence);
    int routed = 0;
    for (const StepRow& step : row.steps) (step.routed < 0 ? undecided : routed) += 1;
    CHECK(decided == routed);
    CHECK(observed == routed);
    asked += routed;
  }
  CHECK(undecided > 0);  // A last draft alone is exact.
  CHECK(asked > undecided);
}

TEST_CASE("a shadow that only observes costs nothing: the same forwards, and the same text") {
  const std::string lines = "drafter = self\nrouter = never\n[decode]\ndraft_length = 4\n";
  const Composition plain = composed(lines), shadowed = composed(lines + "shadow = observe\n");
  int judged = 0;
  for (std::uint64_t sequence = 0; sequence < 10; ++sequence) {
    const SampleRow one = decode(plain, sequence), other = decode(shadowed, sequence);
    REQUIRE(one.steps.size() == other.steps.size());
    for (std::size_t s = 0; s < one.steps.size(); ++s) {
      CHECK(one.steps[s].counts[Kind::draft].calls == 1);
      for (const Kind kind : {Kind::prefill, Kind::draft, Kind::verify, Kind::commit, Kind::aux}) {
        CHECK(one.steps[s].counts[kind].calls == other.steps[s].counts[kind].calls);
        CHECK(one.steps[s].counts[kind].rows == other.steps[s].counts[kind].rows);
      }
      REQUIRE(one.steps[s].tokens.size() == other.steps[s].tokens.size());
      for (std::size_t t = 0; t < one.steps[s].tokens.size(); ++t)
        CHECK(one.steps[s].tokens[t].token == other.steps[s].tokens[t].token);
      for (const DraftRow& draft : other.steps[s].drafts) judged += draft.accepted >= 0;
    }
  }
  CHECK(judged > 0);
}

TEST_CASE("a score that is infinite is recorded as a number that every reader has") {
  const Composition arm = composed(
      "drafter = self\nrouter = ucb\n[decode]\ndraft_length = 3\n[router.ucb]\nspan_bins = 1\n"
      "progress_bins = 1\nentropy_bins = 1\n");
  int cut = 0;
  for (std::uint64_t sequence = 0; sequence < 10; ++sequence) {
    for (const StepRow& step : decode(arm, sequence).steps) {
      CHECK(std::isfinite(step.score) == (step.routed >= 0));
      cut += std::abs(step.score) == 1e9;  // One arm was tried there, and the other never.
    }
  }
  CHECK(cut > 0);
}

TEST_CASE("a decode that would not end is a fault") {
  CHECK_THROWS_WITH_AS(decode(composed("drafter = self\nrouter = never\nunmasker = idle"), 1),
                       doctest::Contains("unmasker 'idle' commits nothing in step 0, for which "
                                         "drafter 'self' drafted"),
                       Fault);
}

TEST_CASE("what a router computed for a step comes back when it observes the step") {
  const Composition arm = composed("drafter = self\nrouter = carrying\n[decode]\ndraft_length = 3");
  int carried = 0;
  for (std::uint64_t sequence = 0; sequence < 20; ++sequence) {
    decode(arm, sequence);
    CHECK(observed == decided);
    carried += observed;
  }
  CHECK(carried > 20);
}

TEST_CASE("a part that asks for ever is a fault, after as many questions as a step may have") {
  CHECK_THROWS_WITH_AS(decode(composed("drafter = endless\n[decode]\nquestions = 7"), 1),
                       "drafter 'endless' asks more than 7 questions in step 0, which is "
                       "decode.questions; it may ask for ever",
                       Fault);
  decode(composed("drafter = self\n[decode]\nquestions = 1"), 1);  // Each part has its own.
}

TEST_CASE("a stop that is requested ends a decode at its next question") {
  const Composition arm = composed("drafter = endless\n[decode]\nquestions = 100000");
  {
    const StopOnSignals stopping;
    ::raise(SIGTERM);
    CHECK(stop_requested());
    CHECK_THROWS_AS(decode(arm, 1), Stopped);
  }
  CHECK(!stop_requested());
}
