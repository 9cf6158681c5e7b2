// Drafts along the reverse steps of one token: how many questions they take. That tokens have the
// target's law, the certificates show (configs/certify/cspd/*along-steps*).
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "tests/plugins/vector_decoding.h"

namespace draftlab {
namespace {

using testing::vectors;

// Questions about reverse steps that the target and the draft model answered, over three tokens of
// three steps.
std::pair<std::int64_t, std::int64_t> asked(const std::string& options,
                                            const std::string& more = "") {
  const Composition composition =
      vectors("drafter = along-steps\n" + more + "[drafter.along-steps]\n" + options);
  std::pair<std::int64_t, std::int64_t> questions;
  for (std::uint64_t sequence = 0; sequence < 20; ++sequence) {
    const SampleRow row = testing::decode(composition, sequence);
    CHECK(row.steps.size() == 3);
    for (const StepRow& step : row.steps) {
      CHECK(step.counts[Kind::verify].calls == 0);
      questions.first += step.counts[Kind::aux].calls;
      questions.second += step.drafter_counts[Kind::aux].calls;
    }
  }
  return questions;
}

TEST_CASE("along-steps: a draft model that is the target answers once for several steps") {
  CHECK(asked("states = model\nahead = 3\n") == std::pair<std::int64_t, std::int64_t>(60, 180));
  CHECK(asked("states = model\nahead = 2\n") == std::pair<std::int64_t, std::int64_t>(120, 180));
  CHECK(asked("states = model\nahead = 1\n").first == 180);
}

TEST_CASE("along-steps: a poor draft model costs no more questions than there are steps") {
  const auto [target, draft] = asked("states = model\nahead = 3\n", "[model.draft]\nshift = 1.5\n");
  CHECK(target > 60);
  CHECK(target < 180);
  CHECK(draft > 180);
}

TEST_CASE("along-steps: without a draft model the last law is moved along") {
  const auto [target, draft] = asked("ahead = 2\n");
  CHECK(draft == 0);
  CHECK(target < 180);
  CHECK(target >= 120);
  // Where a step keeps all of its state, the next one has the same drift and is drafted exactly.
  CHECK(asked("ahead = 2\n", "[model.linear-gaussian]\ngains = 1, 1, 1\nsigmas = 0.5, 0.5, 0.5\n")
            .first == 120);
}

TEST_CASE("along-steps: increments that the present state foretells") {
  // Where a step's head tells the same at every state they are the target's own, so that a token of
  // three steps takes two questions: of the present, and of two drafts.
  CHECK(asked("states = increments\nahead = 2\n").first == 120);
  CHECK(asked("states = increments\nahead = 3\n", "model.draft = none\n").first == 120);
  // A token's last step is never drafted alone behind a present one.
  CHECK(asked("states = increments\nahead = 1\n").first == 180);
  const auto [target, draft] =
      asked("states = increments\nahead = 2\n", "[model.linear-gaussian]\nguessed = 0.9\n");
  CHECK(draft == 0);
  CHECK(target > 120);
  CHECK(target < 180);
}

TEST_CASE("along-steps: a law of two components is not moved") {
  const Composition apart = vectors(
      "drafter = along-steps\n[drafter.along-steps]\nstates = increments\n"
      "[model.linear-gaussian]\napart = 1\n");
  CHECK_THROWS_AS(testing::decode(apart, 0), ConfigError);
}

TEST_CASE("along-steps: states of a model need one, and a law of two components is not moved") {
  CHECK_THROWS_AS(
      vectors("drafter = along-steps\nmodel.draft = none\n[drafter.along-steps]\nstates "
              "= model\n"),
      ConfigError);
  const Composition two = vectors("drafter = along-steps\n[model.linear-gaussian]\napart = 1\n");
  testing::decode(two, 0);  // Only the last of three steps has two components.
}

}  // namespace
}  // namespace draftlab
