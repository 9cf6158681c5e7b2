// What a trace records of an arm is a config that can be run again as it stands.
#include <doctest/doctest.h>

#include <map>

#include "experiments/arm/loaded_arm.h"
#include "experiments/sections.h"
#include "plugins/builtin.h"
#include "tests/plugins/vector_decoding.h"

namespace draftlab {
namespace {

// The expectations in the order of their names, tokens and evaluations of each step.
std::string decoded(const LoadedArm& arm) {
  std::string text;
  for (int sample = 0; sample < 8; ++sample) {
    const Job job{0, sample};
    arm.decode({&job, 1}, [&](const SampleRow& row) {
      for (const StepRow& step : row.steps) {
        for (const auto& [name, drafts] : std::map(step.estimates.begin(), step.estimates.end()))
          text += name + " " + std::to_string(drafts) + " ";
        for (const TokenRow& token : step.tokens) text += std::to_string(token.token) + " ";
        text += "in " + std::to_string(step.counts.nfe()) + "\n";
      }
      return true;
    });
  }
  return text;
}

TEST_CASE("the recorded config of an arm, run again, decodes the same and estimates the same") {
  Registries registries;
  register_builtin_plugins(registries);
  register_sections(registries);
  const auto load = [&](const std::string& text) {
    Diagnostics diagnostics;
    const Config config = Config::parse(text, "a.ini", diagnostics);
    diagnostics.raise();
    return load_arms(config, registries);
  };
  const std::vector<LoadedArm> arms = load(
      "model = table\ntask = positions\nestimator.sharp = confidence\nestimator.flat = renyi2\n"
      "[estimator.sharp]\npower = 3\n[decode]\ndraft_length = 3\n[run]\nseed = 4\n");
  REQUIRE(arms.size() == 1);
  const RunRow row = arms[0].row();
  const std::vector<LoadedArm> again = load(row.config);
  REQUIRE(again.size() == 1);
  CHECK(again[0].row().id == row.id);
  CHECK(again[0].row().config == row.config);
  const std::string before = decoded(arms[0]);
  CHECK(before.find("sharp") != std::string::npos);
  CHECK(decoded(again[0]) == before);
}

TEST_CASE("an arm whose target draws its drafts one by one is recorded as sequential") {
  const auto sequential = [](const std::string& lines) {
    const Composition composition = testing::vectors("router = never\n" + lines);
    return composition.is_sequential();
  };
  CHECK(sequential("model.draft = none\n"));
  CHECK_FALSE(sequential(""));
  CHECK_FALSE(sequential("model.draft = none\n[drafter.diffusion]\ntogether = true\n"));
}

}  // namespace
}  // namespace draftlab
