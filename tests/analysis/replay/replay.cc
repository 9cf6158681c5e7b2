#include "analysis/replay/replay.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/base/error.h"
#include "tests/analysis/traces.h"

namespace draftlab {
namespace {

// Says the same of every draft.
class Constant final : public TokenEstimator {
 public:
  explicit Constant(double alpha) : alpha_(alpha) {}
  Eigen::ArrayXd alpha(const StepView& step) const override {
    return Eigen::ArrayXd::Constant(step.drafts(), alpha_);
  }

 private:
  double alpha_;
};

Bound<Estimator> constant(double alpha) {
  return {"constant", {}, [alpha] { return std::make_unique<Constant>(alpha); }};
}

// Verifies every second time it is asked in a sequence: what it learns is forgotten with the
// sequence.
class EverySecond final : public Router {
 public:
  Route decide(const StepView&) const override { return {.verify = count_ % 2 == 0}; }
  void observe(const Canvas&, const Route&, const Verdict&) override { ++count_; }
  std::string state() const override { return std::to_string(count_); }

 private:
  int count_ = 0;
};

// Steps of three drafts whose acceptance probabilities are 1/2, 1/2, 1/2; `prefix` were accepted.
// All a_i are recorded, as a shadow records them.
SampleRow shadow(int prompt, const std::vector<int>& prefixes) {
  MadeArm arm;
  arm.steps = static_cast<int>(prefixes.size()), arm.drafted = 3;
  SampleRow row = made_sample(arm, 0, prompt, 0);
  for (std::size_t s = 0; s < prefixes.size(); ++s) {
    StepRow& step = row.steps[s];
    step.estimates = {{"two", 2.0}};
    for (int d = 0; d < 3; ++d) {
      DraftRow& draft = step.drafts[d];
      draft.accepted = d < prefixes[s] ? 1 : d == prefixes[s] ? 0 : -1;
      draft.accept = 0.5;
    }
  }
  return row;
}

template <class Change>
void write(const std::string& path, int prompts, const std::vector<int>& prefixes, Change change) {
  MadeArm arm;
  arm.config = "drafter = self\nunmasker = threshold\n[decode]\nthreshold = 0.9\n";
  TraceWriter writer(path, {{}, {made_run(arm)}}, TraceOptions{}, false);
  for (int prompt = 0; prompt < prompts; ++prompt) {
    SampleRow row = shadow(prompt, prefixes);
    change(row);
    writer.sample(std::move(row));
  }
  writer.close();
}

void unchanged(SampleRow&) {}

const EstimatorError& named(const Replay& replay, const std::string& name) {
  for (const EstimatorError& error : replay.estimators)
    if (error.name == name) return error;
  throw Fault("no estimator " + name);
}

const Decisions& decisions(const Replay& replay, const std::string& name) {
  for (const Decisions& d : replay.routers)
    if (d.name == name) return d;
  throw Fault("no router " + name);
}

}  // namespace

TEST_CASE("errors of estimators, and luck apart from them") {
  const TraceFolder folder("replay");
  write(folder / "a.h5", 5, {0, 1, 3, 0}, unchanged);  // K has the mean 1, and C is 1, 2, 3 and 1.
  const Frame frame({folder / "a.h5"});
  ReplayRequest request;
  request.estimators = {{"half", constant(0.5)}, {"sure", constant(1)}};
  const Replay result = replay(frame, request);
  CHECK(result.judged == 20);
  CHECK(result.known == 20);
  CHECK(result.prompts == 5);
  CHECK(result.prefix == doctest::Approx(1));
  CHECK(result.luck == doctest::Approx(1 - 0.875));  // E[K] = 1/2 + 1/4 + 1/8.

  const EstimatorError& half = named(result, "half");
  CHECK(half.error.value == doctest::Approx(-0.125));
  CHECK(half.absolute.value == doctest::Approx((0.875 + 0.125 + 2.125 + 0.875) / 4));
  CHECK(half.error_committed == doctest::Approx(0.875 - 1.75));
  CHECK(half.error_expected == doctest::Approx(0));
  CHECK(half.absolute_expected == doctest::Approx(0));
  CHECK(half.error_expected_committed == doctest::Approx(0.875 - 1.75));  // E[C] = 1 + 1/2 + 1/4.
  // Brier of S = 1/2, 1/4, 1/8 against K = 0, 1, 3, 0.
  const double none = 0.25 + 0.0625 + 0.015625, one = 0.25 + 0.0625 + 0.015625,
               three = 0.25 + 0.5625 + 0.765625;
  CHECK(half.brier.value == doctest::Approx((2 * none + one + three) / 4));
  REQUIRE(half.reliability.size() == 10);
  CHECK(half.reliability[5].drafts == 60);
  CHECK(half.reliability[5].said == doctest::Approx(0.5));
  CHECK(half.reliability[5].was == doctest::Approx(0.5));

  const EstimatorError& sure = named(result, "sure");
  CHECK(sure.error.value == doctest::Approx(2));
  CHECK(sure.error_expected == doctest::Approx(3 - 0.875));
  CHECK(sure.reliability[9].was == doctest::Approx(0.5));
  CHECK(named(result, "two (logged)").error.value == doctest::Approx(1));
  CHECK(std::isnan(named(result, "two (logged)").brier.value));
  const std::string text = replay_tables(result, true);
  CHECK(text.find("0.5 to 0.6") != std::string::npos);
  const std::string markdown = replay_tables(result, true, TableForm::markdown);
  CHECK(
      markdown.find("\n\n| router | steps | verified | as logged |\n| --- | --- | --- | --- |\n") !=
      std::string::npos);
  CHECK(markdown.find("| 0.5 to 0.6 | 60 | 0.500 | 0.500 |\n") != std::string::npos);
}

TEST_CASE("what no shadow measured is not guessed") {
  const TraceFolder folder("replay");
  write(folder / "a.h5", 5, {0, 1, 3, 0}, [](SampleRow& row) {
    for (StepRow& step : row.steps)
      for (DraftRow& draft : step.drafts)
        if (draft.accepted < 0) draft.accept = kNotMeasured;
  });
  const Frame frame({folder / "a.h5"});
  ReplayRequest request;
  request.estimators = {{"half", constant(0.5)}};
  const Replay result = replay(frame, request);
  CHECK(result.judged == 20);
  CHECK(result.known == 5);  // These are the fully accepted ones.
  CHECK(named(result, "half").error.value == doctest::Approx(-0.125));
  CHECK(replay_tables(result, false).find("E[K] is not known") != std::string::npos);
}

TEST_CASE("what a router decides in the logged states, and no more than that") {
  const TraceFolder folder("replay");
  write(folder / "a.h5", 5, {0, 1, 3, 0}, unchanged);
  const Frame frame({folder / "a.h5"});
  ReplayRequest request;
  request.routers = {
      {"second", {"second", {}, [] { return std::make_unique<EverySecond>(); }}, std::nullopt}};
  const Replay result = replay(frame, request);
  CHECK(decisions(result, "always").verified == 1);
  CHECK(decisions(result, "never").agreement == 0);
  const Decisions& second = decisions(result, "second");
  CHECK(second.steps == 20);
  CHECK(second.verified == doctest::Approx(0.5));
  CHECK(second.agreement == doctest::Approx(0.5));
  // Nothing is said of tokens a forward: the states of 'second' are not those that were logged.
  for (const OffPolicyValue& value : result.values)
    CHECK(value.refused.find("no decision was left to chance") != std::string::npos);
  const std::string text = replay_tables(result, false);
  CHECK(text.find("tokens/forward") == std::string::npos);
  CHECK(text.find("would have met other states") != std::string::npos);
}

TEST_CASE("traces that nothing can be replayed from") {
  const TraceFolder folder("replay");
  write(folder / "a.h5", 2, {0, 1}, [](SampleRow& row) {
    for (StepRow& step : row.steps)
      for (DraftRow& draft : step.drafts)
        draft.accepted = -1, draft.accept = draft.p = kNotMeasured;
  });
  CHECK_THROWS_AS(replay(Frame({folder / "a.h5"}), {}), DataError);
  TraceOptions none;
  none.drafts = RecordedDrafts::none;
  TraceWriter writer(folder / "none.h5", {{}, {made_run({})}}, none, false);
  writer.sample(shadow(0, {1, 2}));
  writer.close();
  CHECK_THROWS_AS(replay(Frame({folder / "none.h5"}), {}), DataError);
}

TEST_CASE("acceptance probabilities of whole paths are not replayed as those of drafts") {
  const TraceFolder folder("replay");
  const auto written = [&](bool judges_paths) {
    RunRow run = made_run({});
    run.judges_paths = judges_paths;
    const std::string path = folder / (judges_paths ? "paths.h5" : "drafts.h5");
    TraceWriter writer(path, {{}, {run}}, TraceOptions{}, false);
    writer.sample(shadow(0, {1, 2}));
    writer.close();
    return path;
  };
  CHECK_NOTHROW(replay(Frame({written(false)}), {}));
  CHECK_THROWS_AS(replay(Frame({written(true)}), {}), DataError);
}

// Expects as many accepted drafts as were judged before, in this sequence.
class Heard final : public Estimator {
 public:
  double expected(const StepView&) const override { return judged_; }
  void observe(const Canvas&, const Route&, const Verdict& verdict) override {
    for (const Judged& judged : verdict.judged) judged_ += judged.reached;
  }
  std::string state() const override { return std::to_string(judged_); }

 private:
  double judged_ = 0;
};

TEST_CASE("an estimator learns from the steps before, sequence by sequence") {
  const TraceFolder folder("replay");
  // One, two and three drafts are judged, and so 0, 1 and 3 before each step: as many as pass.
  write(folder / "a.h5", 5, {0, 1, 3}, [](SampleRow& row) {
    for (StepRow& step : row.steps) step.verified = 1;
  });
  ReplayRequest request;
  request.estimators = {{"heard", {"heard", {}, [] { return std::make_unique<Heard>(); }}}};
  const Replay result = replay(Frame({folder / "a.h5"}), request);
  CHECK(result.judged == 15);
  CHECK(named(result, "heard").absolute.value == 0);
}

// Can tell nothing of any step.
class Lost final : public Estimator {
 public:
  double expected(const StepView&) const override { return kNotMeasured; }
};

TEST_CASE("an estimate that is no number is compared with nothing") {
  const TraceFolder folder("replay");
  write(folder / "a.h5", 2, {0, 1, 3}, unchanged);
  ReplayRequest request;
  request.estimators = {{"lost", {"lost", {}, [] { return std::make_unique<Lost>(); }}}};
  const auto message = [&](const std::string& path) {
    return message_of<DataError>([&] { replay(Frame({path}), request); });
  };
  CHECK(message(folder / "a.h5")
            .find("estimator 'lost' expects an accepted prefix of nan in step "
                  "0 of prompt 'p0', which cannot be compared") != std::string::npos);
  request.estimators.clear();
  write(folder / "b.h5", 2, {0, 1, 3}, [](SampleRow& row) {
    row.steps[1].estimates = {{"two", kNotMeasured}};
  });
  CHECK(message(folder / "b.h5")
            .find("estimator 'two' expects an accepted prefix of nan in step "
                  "1 of prompt 'p0'") != std::string::npos);
  // An estimator that was not attached says nothing at all.
  write(folder / "c.h5", 2, {0, 1, 3}, [](SampleRow& row) {
    for (StepRow& step : row.steps) step.estimates = {{"two", kNotMeasured}};
  });
  CHECK(std::isnan(named(replay(Frame({folder / "c.h5"}), {}), "two (logged)").error.value));
}

// Verifies where the unmasker would commit fewer than two drafts.
class Wavering final : public Router {
 public:
  Route decide(const StepView& step) const override { return {.verify = step.preview < 2}; }
};

// Verifies where more than two drafts are expected.
class AboveTwo final : public Router {
 public:
  bool reads_expected() const override { return true; }
  Route decide(const StepView& step) const override { return {.verify = step.expected > 2}; }
};

TEST_CASE("a router reads what its own estimator expected, which the trace has without rounding") {
  const TraceFolder folder("replay");
  // Three drafts, which the estimator of the run expected to be accepted by a hair more than two
  // thirds; from the trace's numbers it expects 1.5.
  const auto agreement = [&](const std::string& name, double alpha) {
    ReplayRequest request;
    Bound<Estimator> estimator = constant(0.5);
    estimator.name = name;
    estimator.values = {{"alpha", std::to_string(alpha)}};
    request.routers = {
        {"above two", {"above two", {}, [] { return std::make_unique<AboveTwo>(); }}, estimator}};
    return decisions(replay(Frame({folder / "a.h5"}), request), "above two").agreement;
  };
  MadeArm arm;
  arm.config = "estimator = constant\n[estimator.constant]\nalpha = " + std::to_string(0.7) + "\n";
  TraceWriter writer(folder / "a.h5", {{}, {made_run(arm)}}, TraceOptions{}, false);
  SampleRow row = shadow(0, {1, 3});
  for (StepRow& step : row.steps) step.routed = step.verified = 1, step.expected = 2.0001;
  writer.sample(std::move(row));
  writer.close();
  CHECK(agreement("constant", 0.7) == 1);
  CHECK(agreement("constant", 0.6) == 0);
  CHECK(agreement("another", 0.7) == 0);
}

TEST_CASE("a router is replayed on what it saw, and not where the trace does not say that") {
  const TraceFolder folder("replay");
  write(folder / "a.h5", 2, {0, 1, 3}, [](SampleRow& row) {
    row.steps[1].preview = 2;
    row.steps[1].routed = row.steps[1].verified = 0;
  });
  ReplayRequest request;
  request.routers = {
      {"hesitant", {"hesitant", {}, [] { return std::make_unique<Wavering>(); }}, std::nullopt}};
  const Replay now = replay(Frame({folder / "a.h5"}), request);
  CHECK(decisions(now, "hesitant").steps == 6);
  CHECK(decisions(now, "hesitant").agreement == 1);

  forget_column(folder / "a.h5", "step_preview");
  CHECK(message_of<DataError>([&] { replay(Frame({folder / "a.h5"}), request); })
            .find("is older than version 1.7 of the trace and does not say what the unmasker would "
                  "have committed (step_preview)") != std::string::npos);
  CHECK_NOTHROW(replay(Frame({folder / "a.h5"}), {}));
}

}  // namespace draftlab
