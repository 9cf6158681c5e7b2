// Speculative cascades: which law is sampled, and that it is sampled exactly.
#include <doctest/doctest.h>

#include "tests/plugins/scripted_step.h"

namespace draftlab {
namespace {

using testing::of;

// The law of a token that is drafted from q, judged, and replaced where it is rejected.
Eigen::ArrayXd law(const Acceptance& rule, const Distribution& p, const Distribution& q,
                   double* accepted = nullptr) {
  Eigen::ArrayXd out = Eigen::ArrayXd::Zero(p.size());
  for (Token token = 0; token < p.size(); ++token) {
    if (q.probability(token) == 0) continue;
    const Trial trial{token, p, &q, 0};
    const double accept = rule.probability(trial);
    out[token] += q.probability(token) * accept;
    if (accepted) *accepted += q.probability(token) * accept;
    if (accept < 1)
      out += q.probability(token) * (1 - accept) * rule.replacement(trial).probabilities();
  }
  return out;
}

std::unique_ptr<Acceptance> cascade(const std::string& rule, double alpha) {
  return testing::part(&Registries::acceptance, "cascade",
                       "rule = " + rule + "\nalpha = " + std::to_string(alpha));
}

// Their total variation is .2.
const Distribution kDraft = of({.4, .35, .25}), kTarget = of({.6, .3, .1});

TEST_CASE("cascades sample draft or target, as the rule says") {
  const auto defers = [](const std::string& rule, double alpha) {
    const Eigen::ArrayXd sampled = law(*cascade(rule, alpha), kTarget, kDraft);
    const double to_target = (sampled - kTarget.probabilities()).abs().sum(),
                 to_draft = (sampled - kDraft.probabilities()).abs().sum();
    CHECK(std::min(to_target, to_draft) < 1e-15);
    return to_target < to_draft;
  };
  CHECK(defers("opt", .5));
  CHECK_FALSE(defers("opt", 1.2));
  CHECK(defers("chow", .5));
  CHECK_FALSE(defers("chow", .7));
  CHECK(defers("diff", .1));
  CHECK_FALSE(defers("diff", .3));
}

TEST_CASE("token-wise cascades sample q where it is good enough, and p times the rest") {
  double accepted = 0;
  const Eigen::ArrayXd sampled = law(*cascade("by-share", .5), kTarget, kDraft, &accepted);
  CHECK(sampled[0] == doctest::Approx(.55).epsilon(1e-12));
  CHECK(sampled[1] == doctest::Approx(.425).epsilon(1e-12));
  CHECK(sampled[2] == doctest::Approx(.025).epsilon(1e-12));
  CHECK(accepted == doctest::Approx(.775).epsilon(1e-12));
  // A = {1} and {1, 2} for p, q above their largest less alpha.
  const Eigen::ArrayXd by_target = law(*cascade("by-target", .1), kTarget, kDraft);
  CHECK(by_target[0] == doctest::Approx(.4 + .6 * .6).epsilon(1e-12));
  CHECK(by_target[1] == doctest::Approx(.3 * .6).epsilon(1e-12));
  const Eigen::ArrayXd by_draft = law(*cascade("by-draft", .1), kTarget, kDraft);
  CHECK(by_draft[0] == doctest::Approx(.4 + .6 * .25).epsilon(1e-12));
  CHECK(by_draft[2] == doctest::Approx(.1 * .25).epsilon(1e-12));
}

TEST_CASE("a cascade needs what drafts were drawn from, and a temperature above 0") {
  const auto rule = cascade("opt", .5);
  CHECK_THROWS_AS(rule->probability({0, kTarget, nullptr, 0}), ConfigError);
  DecodeOptions greedy;
  greedy.sampling.temperature = 0;
  CHECK_THROWS_AS(rule->begin({}, greedy), ConfigError);
}

}  // namespace
}  // namespace draftlab
