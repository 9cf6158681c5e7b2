// What the certificates stand on: the walk itself, its refusals, and that what is drawn agrees with
// what is enumerated.
#include "experiments/certify/certify.h"

#include <doctest/doctest.h>

#include <boost/math/special_functions/gamma.hpp>
#include <iostream>
#include <sstream>
#include <thread>

#include "core/config/sweep_cells.h"
#include "experiments/certify/enumeration.h"
#include "experiments/sections.h"
#include "plugins/builtin.h"

namespace draftlab {

namespace {

using Overrides = std::vector<std::pair<std::string, std::string>>;

const Registries& all_registries() {
  static const Registries all = [] {
    Registries registries;
    register_builtin_plugins(registries);
    register_sections(registries);
    return registries;
  }();
  return all;
}

std::string certificate(const std::string& name) {
  return std::string(DRAFTLAB_SOURCE_DIR) + "/configs/certify/" + name + ".ini";
}

struct Toy {
  Composition composition;
  Loaded loaded;
  Models models;
  Prompt prompt;

  explicit Toy(Composition made)
      : composition(std::move(made)),
        models(load_models(composition, composition.run.machine, loaded)) {
    const auto task = composition.task.make();
    task->load(nullptr);
    prompt = task->prompt(0);
  }
};

Composition composed(const std::string& name, const Overrides& overrides = {},
                     const Registries& registries = all_registries()) {
  Diagnostics diagnostics;
  const std::vector<Cell> cells = expand_claims(
      Config::read(certificate(name), overrides, diagnostics), registries, diagnostics);
  diagnostics.raise();
  REQUIRE(cells.size() == 1);
  Composition composition = compose(cells[0].config, registries, diagnostics);
  diagnostics.raise();
  return composition;
}

// The command, with what it prints kept from the test's own output.
int run_certify(const std::string& name, const Overrides& overrides, std::string& printed,
                bool table = false) {
  std::ostringstream out;
  std::streambuf* const before = std::cout.rdbuf(out.rdbuf());
  CommandLine line;
  line.paths = {certificate(name)};
  line.overrides = overrides;
  int status = -1;
  try {
    OptionSet flags;
    const auto command = certify_command().flags(flags);
    if (table) CHECK(flags.read("table", "true").empty());
    status = command(line, all_registries());
  } catch (...) {
    std::cout.rdbuf(before);
    throw;
  }
  std::cout.rdbuf(before);
  printed = out.str();
  return status;
}

// The texts of `count` sampled decodes, split over threads that share nothing but the composition.
std::vector<std::vector<Token>> sampled(const Composition& composition, int count, int threads) {
  std::vector<std::vector<Token>> texts(static_cast<std::size_t>(count));
  std::vector<std::thread> crew;
  for (int thread = 0; thread < threads; ++thread) {
    crew.emplace_back([&, thread] {
      const Toy toy(composition);
      for (int i = thread; i < count; i += threads) {
        SampledChance chance(20);
        Decoder decoder(toy.composition, toy.models, toy.prompt,
                        {chance, stable_hash("sample " + std::to_string(i))});
        drive(toy.models, decoder, decoder.decode());
        texts[static_cast<std::size_t>(i)] = decoder.canvas().tokens();
      }
    });
  }
  for (std::thread& thread : crew) thread.join();
  return texts;
}

}  // namespace

TEST_CASE("merging equal states changes the number of outcomes and nothing else") {
  const std::vector<std::pair<std::string, Overrides>> decoders = {
      {"assd/assd-self", {{"decode.draft_length", "4"}}},
      {"assd/assd-ngram-fallback", {{"decode.draft_length", "3"}}},
      {"assd/lossy-sigma-gpt", {{"verifier.orders.orders", "1"}, {"model.table.kind", "ordered"}}}};
  for (const auto& [name, overrides] : decoders) {
    CAPTURE(name);
    const Toy toy(composed(name, overrides));
    const Outcomes merged =
        enumerate(toy.composition, toy.models, toy.prompt, {.merge = true, .most = 1000000});
    const Outcomes apart =
        enumerate(toy.composition, toy.models, toy.prompt, {.merge = false, .most = 1000000});
    CHECK(merged.merged > 0);
    CHECK(apart.merged == 0);
    CHECK(merged.walked < apart.walked);
    CHECK(total_variation(merged.probability, apart.probability) < 1e-15);
    CHECK(merged.expected_nfe == doctest::Approx(apart.expected_nfe).epsilon(1e-12));
    CHECK(merged.worst_nfe == apart.worst_nfe);
    for (const bool merge : {true, false}) {
      const double estimate = estimated_outcomes(toy.composition, toy.models, toy.prompt, merge);
      const auto walked = static_cast<double>((merge ? merged : apart).walked);
      CHECK(estimate > walked / 4);
      CHECK(estimate < walked * 4);
    }
  }
}

// Stops verifying once a draft has been rejected, and tells so in its state only where it should.
template <bool kTells>
class Disappointed final : public Router {
 public:
  struct Options {
    void declare(OptionSet&) {}
  };
  explicit Disappointed(const Options&) {}
  Route decide(const StepView&) const override { return {.verify = !rejected_}; }
  void observe(const Canvas&, const Route&, const Verdict& verdict) override {
    for (const Judged& judged : verdict.judged) rejected_ |= judged.reached && !judged.accepted;
  }
  std::string state() const override { return kTells && rejected_ ? "rejected" : ""; }

 private:
  bool rejected_ = false;
};

TEST_CASE("a part whose state leaves something out is named before its certificate is believed") {
  Registries registries;
  register_builtin_plugins(registries);
  register_sections(registries);
  registries.routers.add<Disappointed<true>>("tells", "");
  registries.routers.add<Disappointed<false>>("keeps-quiet", "");
  const auto outcomes = [&](const std::string& router, bool merge) {
    const Overrides overrides = {{"router", router}, {"decode.draft_length", "2"}};
    const Toy toy(composed("assd/assd-self", overrides, registries));
    return enumerate(toy.composition, toy.models, toy.prompt, {.merge = merge, .most = 1000000});
  };
  const Outcomes told = outcomes("tells", true);
  CHECK(told.merged > 0);
  CHECK(told.compared == told.merged);
  CHECK(total_variation(told.probability, outcomes("keeps-quiet", false).probability) < 1e-15);
  CHECK_THROWS_WITH_AS(
      outcomes("keeps-quiet", true),
      doctest::Contains("router 'keeps-quiet' leaves something out of its state()"), Fault);
}

// Four unknowns of three tokens, one a step: 3 + 9 + 27 + 81 outcomes of steps, 81 texts, four
// evaluations.
TEST_CASE("the sequential decoder's outcomes can be counted by hand") {
  const Toy toy(composed("assd/assd-self-k3", {{"drafter", "stepwise"}}));
  const Outcomes outcomes =
      enumerate(toy.composition, toy.models, toy.prompt, {.merge = true, .most = 1000});
  CHECK(outcomes.walked == 120);
  CHECK(outcomes.probability.size() == 81);
  CHECK(outcomes.expected_nfe == doctest::Approx(4).epsilon(1e-12));
  CHECK(outcomes.worst_nfe == 4);
  CHECK(outcomes.dropped < 1e-12);
  CHECK(total_variation(outcomes.probability, outcomes.probability) == 0);
  CHECK_THROWS_AS(enumerate(toy.composition, toy.models, toy.prompt, {.merge = true, .most = 119}),
                  ConfigError);
}

TEST_CASE("total variation, by hand") {
  const TextLaw a = {{{0}, .5}, {{1}, .5}}, b = {{{1}, .25}, {{2}, .75}};
  CHECK(total_variation(a, b) == .75);
  CHECK(total_variation(b, a) == .75);
}

TEST_CASE("a false claim is exit status 1, a true one 0") {
  std::string printed;
  CHECK(run_certify("assd/assd-self-k3", {}, printed) == 0);
  CHECK(printed.find("holds") != std::string::npos);
  CHECK(run_certify("assd/assd-self-k3", {{"certify.expect", "lossy"}}, printed) == 1);
  CHECK(run_certify("assd/assd-self-k3", {{"certify.worst_nfe", "3"}}, printed) == 1);
  CHECK(printed.find("DOES NOT HOLD") != std::string::npos);
  CHECK(run_certify("speculative/lossy-ratio", {}, printed) == 0);
  CHECK(run_certify("speculative/lossy-ratio", {{"certify.expect", "lossless"}}, printed) == 1);
}

TEST_CASE("a table has a row for each config") {
  std::string printed;
  CHECK(run_certify("s2d2/s2d2", {}, printed, true) == 0);
  CHECK(std::count(printed.begin(), printed.end(), '\n') == 3);
  CHECK(printed.find("s2d2/s2d2.ini` | lossless | sequential | 2 of 2 | ") != std::string::npos);
  CHECK(printed.find(" | 11 |") != std::string::npos);
  CHECK(run_certify("s2d2/s2d2", {{"certify.worst_nfe", "10"}}, printed, true) == 1);
  CHECK(printed.find("| 1 of 2 |") != std::string::npos);
}

TEST_CASE("every cell of a sweep is a claim, and one false claim makes the exit status 1") {
  std::string printed;
  CHECK(run_certify("s2d2/s2d2", {}, printed) == 0);
  CHECK(printed.find("s2d2.ini decode.block_size=4 decode.steps=4: holds") != std::string::npos);
  CHECK(printed.find("s2d2.ini decode.block_size=2 decode.steps=2: holds") != std::string::npos);
  CHECK(run_certify("s2d2/s2d2", {{"certify.worst_nfe", "10"}}, printed) == 1);
  CHECK(printed.find("decode.steps=4: holds") != std::string::npos);
  CHECK(printed.find("decode.steps=2: DOES NOT HOLD") != std::string::npos);
}

TEST_CASE("what is lossless is held to the tolerance, however much a lossy decoder must show") {
  std::string printed;
  CHECK(run_certify("assd/assd-self-k3",
                    {{"acceptance.speculative.epsilon", "0.05"}, {"certify.visible", "0.9"}},
                    printed) == 1);
  CHECK(printed.find("DOES NOT HOLD") != std::string::npos);
}

TEST_CASE("too many outcomes are refused before they are walked, with the estimate and the bound") {
  std::string printed;
  try {
    run_certify("assd/lossy-sigma-gpt", {{"certify.most_outcomes", "100"}}, printed);
    FAIL("not refused");
  } catch (const Error& error) {  // A copy of the process refused it.
    CHECK(error.status() == 78);
    CHECK(
        std::string(error.what()).find("outcomes to walk, more than certify.most_outcomes = 100") !=
        std::string::npos);
  }
}

TEST_CASE(
    "self-drafting never needs more than N - m evaluations (Theorem 1), and k = 2 gains nothing") {
  for (int k = 1; k <= 5; ++k) {
    const Toy toy(composed("assd/assd-self-k3", {{"decode.draft_length", std::to_string(k)}}));
    const Outcomes outcomes =
        enumerate(toy.composition, toy.models, toy.prompt, {.merge = true, .most = 100000});
    CAPTURE(k);
    CHECK(outcomes.worst_nfe == 4);
    if (k <= 2)
      CHECK(outcomes.expected_nfe == doctest::Approx(4).epsilon(1e-12));  // K = 2 gains nothing.
    if (k >= 3) CHECK(outcomes.expected_nfe < 3.9);
  }
}

TEST_CASE("200,000 sampled decodes agree with the enumeration, at one thread and at two") {
  constexpr int count = 200000;
  const Toy toy(composed("assd/assd-self-k3"));
  const Outcomes outcomes =
      enumerate(toy.composition, toy.models, toy.prompt, {.merge = true, .most = 100000});
  const auto texts = sampled(toy.composition, count, 1);
  CHECK(texts == sampled(toy.composition, count, 2));

  std::map<std::vector<Token>, int> seen;
  for (const auto& text : texts) ++seen[text];
  double statistic = 0, rest_expected = 0, rest_seen = count;
  int cells = 0;
  for (const auto& [text, probability] : outcomes.probability) {
    const double expected = probability * count;
    if (expected < 10) {
      rest_expected += expected;
      continue;
    }
    statistic += (seen[text] - expected) * (seen[text] - expected) / expected;
    rest_seen -= seen[text];
    ++cells;
  }
  if (rest_expected > 0) {
    statistic += (rest_seen - rest_expected) * (rest_seen - rest_expected) / rest_expected;
    ++cells;
  }
  CAPTURE(statistic);
  CAPTURE(cells);
  CHECK(cells > 40);
  CHECK(boost::math::gamma_q((cells - 1) / 2.0, statistic / 2) > .001);
}

// Four unknowns, three drafts a step: 1.9 and 2.2 evaluations token by token on these two laws.
TEST_CASE("block verification takes the evaluations that its recursion says") {
  const auto nfe = [](const Overrides& law, const std::string& verifier) {
    Overrides overrides = {{"sweep.arm", "t3-3"}, {"verifier", verifier}};
    overrides.insert(overrides.end(), law.begin(), law.end());
    if (verifier == "chain") overrides.push_back({"verifier.chain.bonus", "true"});
    const Toy toy(composed("speculative/block", overrides));
    return enumerate(toy.composition, toy.models, toy.prompt, {.merge = true, .most = 100000})
        .expected_nfe;
  };
  const Overrides t1 = {{"model.table.vocabulary", "3"},
                        {"model.draft.vocabulary", "3"},
                        {"model.table.marginal", "0.5, 0.3, 0.2"},
                        {"model.draft.marginal", "0.2, 0.5, 0.3"}};
  CHECK(nfe({}, "chain") == doctest::Approx(2.2).epsilon(1e-9));
  CHECK(nfe({}, "block") == doctest::Approx(2.044).epsilon(1e-9));
  CHECK(nfe(t1, "chain") == doctest::Approx(1.9).epsilon(1e-9));
  CHECK(nfe(t1, "block") == doctest::Approx(1.737).epsilon(1e-9));
}

}  // namespace draftlab
