#include "core/loop/decoder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.h"
#include "tests/core/loop/toy.h"

namespace draftlab {
namespace {

using toy::Calls;

// Decodes a toy canvas to its end.
SampleRow decoded(const Arm& arm, int length) {
  const Models models = toy::models_of(arm);
  SampledChance chance(1);
  Decoder decoder(arm, models, toy::prompt(length), {chance, 0});
  return drive(models, decoder, decoder.decode());
}

TEST_CASE("a step proposes, routes, judges, settles and records, in this order") {
  Calls calls;
  const Arm arm = toy::arm(true, &calls);
  const Models models = toy::models_of(arm);
  SampledChance chance(1);
  Decoder decoder(arm, models, toy::prompt(4), {chance, 0});
  REQUIRE(drive(models, decoder, decoder.step()));
  CHECK(calls == Calls{"frontier.next", "drafter.propose", "router.decide", "verifier.judge",
                       "unmasker.top_up", "router.observe", "frontier.settled"});
  REQUIRE(decoder.row().steps.size() == 1);
  const StepRow& step = decoder.row().steps[0];
  CHECK(step.step == 0);
  CHECK(step.routed == 1);
  CHECK(step.verified == 1);
  CHECK(step.drafted == 2);
  CHECK(step.accepted == 2);
  CHECK(step.committed == 2);
  CHECK(step.masked == 3);
  CHECK(step.counts[Kind::draft].calls == 1);
  CHECK(step.counts[Kind::verify].calls == 1);
  CHECK(decoder.canvas().tokens() == std::vector<Token>{2, 1, 2, kNoToken});
}

TEST_CASE("a step without a verification asks the unmasker in the verifier's place") {
  Calls calls;
  const Arm arm = toy::arm(false, &calls);
  const Models models = toy::models_of(arm);
  SampledChance chance(1);
  Decoder decoder(arm, models, toy::prompt(4), {chance, 0});
  REQUIRE(drive(models, decoder, decoder.step()));
  CHECK(calls == Calls{"frontier.next", "drafter.propose", "router.decide", "unmasker.choose",
                       "unmasker.top_up", "router.observe", "frontier.settled"});
  CHECK(decoder.row().steps[0].verified == 0);
  CHECK(decoder.row().steps[0].committed == 1);
  CHECK(decoder.nfe() == 1);
}

TEST_CASE("with shadow = observe a step is judged and counted as if it were not") {
  Calls calls;
  Arm arm = toy::arm(false, &calls);
  arm.decode.shadow = Shadow::observe;
  const Models models = toy::models_of(arm);
  SampledChance chance(1);
  Decoder decoder(arm, models, toy::prompt(4), {chance, 0});
  REQUIRE(drive(models, decoder, decoder.step()));
  CHECK(std::count(calls.begin(), calls.end(), "verifier.judge") == 1);
  CHECK(std::count(calls.begin(), calls.end(), "unmasker.choose") == 1);
  CHECK(decoder.row().steps[0].verified == 0);
  CHECK(decoder.row().steps[0].drafts[0].accepted == 1);
  CHECK(decoder.row().steps[0].committed == 1);
  CHECK(decoder.nfe() == 1);
}

TEST_CASE("decoding ends when the canvas is full, and the row says what it took") {
  const SampleRow verified = decoded(toy::arm(true), 6), chosen = decoded(toy::arm(false), 6);
  CHECK(verified.status == "done");
  CHECK(verified.length == 6);
  CHECK(verified.prompt_tokens == 1);
  CHECK(verified.generated == 5);
  CHECK(verified.iterations == 3);
  CHECK(verified.counts.nfe() == 6);
  CHECK(chosen.iterations == 5);
  CHECK(chosen.counts.nfe() == 5);
}

// Drafts in all steps but the first.
struct RestsFirst final : Drafter {
  Asking<Proposal> propose(const Step& step) const override {
    if (steps == 0) co_return Proposal{};
    co_return co_await drafts.propose(step);
  }
  void observe(const Canvas&, const Route&, const Verdict&) override { ++steps; }
  std::string state() const override { return std::to_string(steps); }
  int steps = 0;
  toy::Likeliest drafts;
};

// Notes of how many drafts it was asked.
struct Previews final : Unmasker {
  explicit Previews(std::vector<std::size_t>* asked) : asked(asked) {}
  Verdict choose(const Step& step, const Proposal& proposal) const override {
    return first.choose(step, proposal);
  }
  int preview(const Step&, const Proposal& proposal) const override {
    asked->push_back(proposal.nodes.size());
    return 0;
  }
  Verdict top_up(const Step&, const Proposal&, Verdict verdict) const override { return verdict; }
  std::vector<std::size_t>* asked;
  toy::First first;
};

TEST_CASE("an unmasker is asked nothing in a step without drafts") {
  std::vector<std::size_t> asked;
  Arm arm = toy::arm(false);
  arm.drafter = {"rests-first", {}, [] { return std::make_unique<RestsFirst>(); }};
  arm.unmasker = {"previews", {}, [&] { return std::make_unique<Previews>(&asked); }};
  const SampleRow row = decoded(arm, 3);
  CHECK(row.iterations == 3);
  CHECK(row.steps[0].drafted == 0);
  CHECK(row.steps[0].preview == 0);
  CHECK(asked == std::vector<std::size_t>{2, 1});
}

// Expects as many drafts as steps were observed since it was told to begin.
struct CountsSteps final : Estimator {
  double expected(const StepView&) const override { return steps; }
  void begin(const Blocks&, const DecodeOptions&) override { steps = 0; }
  void observe(const Canvas&, const Route&, const Verdict&) override { ++steps; }
  std::string state() const override { return std::to_string(steps); }
  double steps = 100;
};

TEST_CASE("estimators begin and observe, the router's and those that are recorded") {
  Arm arm = toy::arm(true);
  arm.estimator = factory_of<CountsSteps, Estimator>("counts");
  arm.attached = {{"other", factory_of<CountsSteps, Estimator>("counts")}};
  const SampleRow row = decoded(arm, 6);
  REQUIRE(row.steps.size() == 3);
  for (int i = 0; i < 3; ++i) {
    CHECK(row.steps[static_cast<std::size_t>(i)].expected == i);
    CHECK(row.steps[static_cast<std::size_t>(i)].estimates.at(0).second == i);
  }
}

TEST_CASE("an arm that never verifies needs neither a verifier nor an acceptance rule") {
  Arm arm = toy::arm(false);
  arm.verifier = {};
  arm.acceptance = {};
  CHECK(decoded(arm, 6).generated == 5);
}

TEST_CASE("the forward of the prompt belongs to the sample, not to a step") {
  Arm arm = toy::arm(false);
  arm.models.at("").make = [] {
    auto model = std::make_unique<toy::OfPositions>();
    model->prefills = true;
    return model;
  };
  const SampleRow row = decoded(arm, 3);
  CHECK(row.counts[Kind::prefill].calls == 1);
  for (const StepRow& step : row.steps) CHECK(step.counts[Kind::prefill].calls == 0);
  CHECK(row.counts.nfe() == 3);
}

TEST_CASE("equal decodes have equal states, and a step changes the state") {
  const Arm arm = toy::arm(true);
  const Models models = toy::models_of(arm);
  SampledChance one(1), two(1);
  Decoder first(arm, models, toy::prompt(6), {one, 0}),
      second(arm, models, toy::prompt(6), {two, 0});
  const std::string before = first.state();
  CHECK(before == second.state());
  drive(models, first, first.step());
  CHECK(first.state() != before);
  drive(models, second, second.step());
  CHECK(first.state() == second.state());
}

// Commits the first draft and takes back what is still tentative, for ever.
struct Undoes final : Unmasker {
  bool takes_back() const override { return true; }
  Verdict choose(const Step& step, const Proposal& proposal) const override {
    Verdict verdict{.commits = {}, .edits = {}, .why = Stop::unverified, .carry = {}, .judged = {}};
    verdict.commits = {commit_of(proposal.nodes.front(), Source::threshold)};
    for (std::int32_t i = 0; i < step.canvas.length(); ++i)
      if (step.canvas.tentative(i))
        verdict.taken_back.push_back({i, step.canvas.token(i), Source::taken_back});
    return verdict;
  }
  int preview(const Step&, const Proposal&) const override { return 0; }
  Verdict top_up(const Step&, const Proposal&, Verdict verdict) const override { return verdict; }
};

TEST_CASE("as much as is committed may be taken back until all blocks had their steps") {
  Arm arm = toy::arm(false);
  arm.unmasker = {"undoes", {}, [] { return std::make_unique<Undoes>(); }};
  arm.decode.block_size = 2, arm.decode.steps = 8;  // Two blocks of eight steps each.
  const Models models = toy::models_of(arm);
  SampledChance chance(1);
  Decoder decoder(arm, models, toy::prompt(4), {chance, 0});
  int steps = 0;
  const auto go_on = [&] {
    for (; steps < 100; ++steps) drive(models, decoder, decoder.step());
  };
  CHECK_THROWS_WITH_AS(go_on(), doctest::Contains("decoding would not end"), Fault);
  CHECK(steps == 16);
}

// A model that reads a random canvas, and keeps what it read.
struct OfNoise final : Model {
  std::shared_ptr<std::vector<std::vector<Token>>> read =
      std::make_shared<std::vector<std::vector<Token>>>();
  void load(const Machine&) override {}
  ModelFacts facts() const override {
    ModelFacts facts;
    facts.vocabulary = 3;
    facts.random_canvas = true;
    return facts;
  }
  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks&) override {
    return std::make_unique<Sequence>(canvas);
  }
  void evaluate(std::span<Pending> batch) override {
    for (Pending& pending : batch) {
      const Canvas& canvas = pending.sequence->canvas;
      read->emplace_back();
      for (std::int32_t i = 0; i < canvas.length(); ++i) read->back().push_back(canvas.shown(i));
      for (const Ask& ask : pending.question->asks)
        for (const std::int32_t position : ask.positions)
          pending.answer->add(ask.node, position, toy::law(position));
    }
  }
};

// Shows the first draft for some steps, and commits it then.
struct ShowsFirst final : Unmasker {
  explicit ShowsFirst(std::int64_t its_steps) : steps(its_steps) {}
  bool shows() const override { return true; }
  Verdict choose(const Step& step, const Proposal& proposal) const override {
    Verdict verdict;
    const Commit first = commit_of(proposal.nodes.front(), Source::threshold);
    (step.made + 1 < steps ? verdict.shown : verdict.commits) = {first};
    return verdict;
  }
  int preview(const Step&, const Proposal&) const override { return 0; }
  Verdict top_up(const Step&, const Proposal&, Verdict verdict) const override { return verdict; }
  std::int64_t steps;
};

struct RandomCanvas {
  Arm arm = toy::arm(false);
  std::shared_ptr<std::vector<std::vector<Token>>> read;

  explicit RandomCanvas(std::int64_t steps) {
    arm.models[""].make = [this] {
      auto model = std::make_unique<OfNoise>();
      read = model->read;
      return model;
    };
    arm.unmasker = {"shows", {}, [steps] { return std::make_unique<ShowsFirst>(steps); }};
  }
  SampleRow decode(int length, std::uint64_t seed = 1) {
    const Models models = toy::models_of(arm);
    SampledChance chance(seed);
    Decoder decoder(arm, models, toy::prompt(length), {chance, 0});
    return drive(models, decoder, decoder.decode());
  }
};

TEST_CASE("a random canvas is drawn anew for each step, but where it shows what a verdict said") {
  constexpr int kLength = 60, kSteps = 30;
  RandomCanvas canvas(kSteps);
  canvas.arm.decode.block_size = kLength;
  canvas.arm.decode.steps = kLength * kSteps;
  const SampleRow row = canvas.decode(kLength);
  const auto& read = *canvas.read;
  REQUIRE(row.steps.size() >= kSteps);
  const std::int32_t first = row.steps[0].drafts[0].position;
  int same = 0, compared = 0;
  std::array<int, 3> drawn = {};
  for (int step = 0; step < kSteps; ++step) {
    CHECK(row.steps[step].committed == (step + 1 == kSteps));
    for (const DraftRow& draft : row.steps[step].drafts)
      CHECK(draft.shown == read[step][draft.position]);
    if (step > 0) CHECK(read[step][first] == row.steps[step - 1].drafts[0].token);
    for (std::int32_t i = first + 1; i < kLength; ++i) {
      REQUIRE(read[step][i] >= 0);
      ++drawn[read[step][i]];
      if (step > 0) ++compared, same += read[step][i] == read[step - 1][i];
    }
  }
  // Of three tokens each is drawn a third of the time, whatever stood there before.
  CHECK(std::abs(double(same) / compared - 1. / 3) < .04);
  for (const int count : drawn)
    CHECK(std::abs(count / double(kSteps * (kLength - 1)) - 1. / 3) < .04);
}

TEST_CASE("an unmasker that only shows is stopped when its schedule is over") {
  RandomCanvas endless(1 << 20);
  CHECK_THROWS_WITH_AS(endless.decode(4), doctest::Contains("its schedule is over"), Fault);
}

TEST_CASE("what masked positions show is nothing to a model that reads masks") {
  Arm arm = toy::arm(false);
  arm.unmasker = {"shows", {}, [] { return std::make_unique<ShowsFirst>(1); }};
  const Models models = toy::models_of(arm);
  SampledChance chance(1);
  CHECK_THROWS_WITH_AS(Decoder(arm, models, toy::prompt(4), {chance, 0}),
                       doctest::Contains("it takes a model that reads a random canvas"),
                       ConfigError);
}

TEST_CASE("the temperature of a block's steps falls linearly, and stays where none is named") {
  DecodeOptions decode;
  decode.sampling.temperature = 0.8;
  CHECK(decode.temperature(3, 4) == 0.8);
  decode.temperature_last = 0.4;
  CHECK(decode.temperature(0, 4) == doctest::Approx(0.8));
  CHECK(decode.temperature(3, 4) == doctest::Approx(0.5));  // A block of four has four steps.
  CHECK(decode.temperature(9, 4) == doctest::Approx(0.4));
  decode.steps = 40;
  CHECK(decode.temperature(30, 4) == doctest::Approx(0.5));
}

}  // namespace
}  // namespace draftlab
