// The bandit, played by hand (S2D2, Eq. 16-18).
#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "core/config/config.h"
#include "core/config/plugin.h"
#include "plugins/builtin.h"

using namespace draftlab;

namespace {

std::unique_ptr<Router> bandit(const std::string& options) {
  Registries registries;
  register_builtin_plugins(registries);
  Diagnostics diagnostics;
  const auto bound = registries.routers.find("ucb")->bind(
      Config::parse("[router.ucb]\n" + options, "test.ini", diagnostics), "router.ucb",
      diagnostics);
  diagnostics.raise();
  return bound.make();
}

// A step of a block of eight, none of it given.
struct Numbers {
  Eigen::ArrayXd entropy;
  StepView view;
  Numbers(int span, int masked, std::vector<double> nats, int given = 0, int vocabulary = 4)
      : entropy(Eigen::Map<Eigen::ArrayXd>(nats.data(), static_cast<Eigen::Index>(nats.size()))) {
    view.span.length = span;
    view.block = view.sub_block = {0, 8, given, masked};
    view.vocabulary = vocabulary;
    view.entropy = {entropy.data(), entropy.size()};
  }
};

// Decides, checks, and reports that so many tokens were decoded.
void play(Router& router, const StepView& view, bool verify, int decoded, double score = NAN) {
  const Route route = router.decide(view);
  CHECK(route.verify == verify);
  if (std::isinf(score))
    CHECK(route.score == score);
  else if (!std::isnan(score))
    CHECK(route.score == doctest::Approx(score));
  Verdict verdict;
  verdict.commits.resize(static_cast<std::size_t>(decoded));
  router.observe(Canvas(1, {}), route, verdict);
}

const std::string one_bucket = "span_bins = 1\nprogress_bins = 1\nentropy_bins = 1\n";

}  // namespace

TEST_CASE("four decisions in one bucket") {
  const auto router = bandit(one_bucket + "beta = 1");
  const Numbers step(8, 8, {0});
  // Neither arm was tried, which is a tie. The reward is 4 / 2 = 2.
  play(*router, step.view, true, 4, 0);
  // The other arm was not tried. The reward is 1 / 1 = 1.
  play(*router, step.view, false, 1, -INFINITY);
  // t = 3: 2 + sqrt(ln 3 / 1) against 1 + sqrt(ln 3 / 1). Reward 1 / 2; the mean is (2 + 0.5) / 2
  // = 1.25
  play(*router, step.view, true, 1, 1);
  // t = 4: 1.25 + sqrt(ln 4 / 2) = 2.0826 against 1 + sqrt(ln 4 / 1) = 2.1774
  play(*router, step.view, false, 1,
       1.25 + std::sqrt(std::log(4.0) / 2) - 1 - std::sqrt(std::log(4.0)));
}

TEST_CASE("the arm that was played is credited, whoever chose it") {
  const auto router = bandit(one_bucket + "beta = 1");
  const Numbers step(8, 8, {0});
  Route route = router->decide(step.view);
  CHECK(route.verify);   // A tie of two untried arms.
  route.verify = false;  // Exploration or a shadow does so.
  Verdict verdict;
  verdict.commits.resize(3);
  router->observe(Canvas(1, {}), route, verdict);
  // Without verification there is one play, of reward 3 / 1.
  CHECK(router->state() == "1:0x1.8p+1 0:0x0p+0 ");
  play(*router, step.view, true, 4, INFINITY);  // The other arm is untried still.
}

TEST_CASE("without exploration the better mean wins") {
  const auto router = bandit(one_bucket + "beta = 0");
  const Numbers step(8, 8, {0});
  play(*router, step.view, true, 4);     // That is 2 a pass.
  play(*router, step.view, false, 2);    // That is 2 a pass.
  play(*router, step.view, true, 2, 0);  // Both are equal, so it verifies; the mean falls to 1.5.
  play(*router, step.view, false, 2, -0.5);
}

TEST_CASE("ties may go the other way") {
  const auto router = bandit(one_bucket + "ties_verify = false");
  const Numbers step(8, 8, {0});
  play(*router, step.view, false, 1, 0);
  play(*router, step.view, true, 1, INFINITY);
}

TEST_CASE("passes cost what they are said to cost") {
  const auto router = bandit(one_bucket + "beta = 0\nverify_cost = 1.25\nskip_cost = 0.5");
  const Numbers step(8, 8, {0});
  play(*router, step.view, true, 5);   // That is 4.
  play(*router, step.view, false, 1);  // That is 2.
  play(*router, step.view, true, 5, 2);
}

TEST_CASE("the bucket is read off span, progress and entropy") {
  const auto router = bandit("span_bins = 2\nprogress_bins = 2\nentropy_bins = 2");
  const auto bucket = [&](const Numbers& step) { return router->decide(step.view).context; };
  const double half = std::log(2.0), most = std::log(4.0);  // H / ln 4 = 0.5 and 1.
  CHECK(bucket(Numbers(1, 8, {0})) == 0);
  CHECK(bucket(Numbers(4, 8, {0})) == 0);  // That is (4 - 1) / 7 < 1/2.
  CHECK(bucket(Numbers(5, 8, {0})) == 4);  // That is (5 - 1) / 7 > 1/2.
  CHECK(bucket(Numbers(1, 5, {0})) == 0);  // That is 3 of 8 unmasked.
  CHECK(bucket(Numbers(1, 4, {0})) == 2);  // That is 4 of 8.
  CHECK(bucket(Numbers(1, 8, {half - 1e-9})) == 0);
  CHECK(bucket(Numbers(1, 8, {half})) == 1);
  CHECK(bucket(Numbers(8, 1, {most, most, most, most, most, most, most, most})) ==
        7);  // The last bins hold their ends.
}

TEST_CASE("what counts as progress and whose entropy is averaged can be chosen") {
  const Numbers tail(1, 4, {0}, 4);  // The four that are not masked were given.
  CHECK(bandit("entropy_bins = 1\nspan_bins = 1")->decide(tail.view).context == 1);
  CHECK(
      bandit("entropy_bins = 1\nspan_bins = 1\ncount_prompt = false")->decide(tail.view).context ==
      0);
  const Numbers drafts(1, 8,
                       {0, std::log(4.0),
                        // The span is the first of three masks, whose mean is 2/3.
                        std::log(4.0)});
  CHECK(bandit("span_bins = 1\nprogress_bins = 1")->decide(drafts.view).context == 0);
  CHECK(bandit("span_bins = 1\nprogress_bins = 1\nentropy_over = masks")
            ->decide(drafts.view)
            .context == 1);
  CHECK(bandit("span_bins = 1\nprogress_bins = 1\nentropy_over = masks\nwidth = 16")
            ->decide(drafts.view)
            .context == 0);  // That is 1/3.
}

TEST_CASE("buckets learn apart, but share the clock") {
  const auto router = bandit("span_bins = 2\nprogress_bins = 1\nentropy_bins = 1\nbeta = 1");
  const Numbers little(1, 8, {0}), much(8, 8, {0});
  play(*router, little.view, true, 2);   // That is 1.
  play(*router, much.view, true, 8);     // That is 4.
  play(*router, little.view, false, 1);  // That is 1.
  play(*router, much.view, false, 1);    // That is 1.
  // t = 5, two arms of one play each: the bonus is the same, and the means decide.
  play(*router, little.view, true, 2, 0);
  play(*router, much.view, true, 8, 3);
  // t = 7: 1 + sqrt(ln 7 / 2) against 1 + sqrt(ln 7 / 1)
  play(*router, little.view, false, 1, std::sqrt(std::log(7.0) / 2) - std::sqrt(std::log(7.0)));
}

TEST_CASE("the decisions of a block of four, as the authors' loop took them") {
  // A decode of a small random model with this router, block by block: (span, masked, given,
  // decoded) of each step.
  const auto router = bandit("beta = 1\ncount_prompt = false\nentropy_bins = 1");
  struct Taken {
    int span, masked, given, decoded;
    bool verify;
  };
  for (const Taken& step : std::vector<Taken>{{4, 4, 0, 1, true},
                                              {3, 3, 0, 3, false},
                                              {4, 4, 0, 3, false},
                                              {1, 1, 0, 1, true},
                                              {4, 4, 0, 3, false},
                                              {1, 1, 0, 1, false}}) {
    Numbers numbers(step.span, step.masked, {0}, step.given);
    numbers.view.block.size = 4;
    play(*router, numbers.view, step.verify, step.decoded);
  }
}

TEST_CASE("span and progress are those of the block, or of its current sub-block") {
  // Blocks of eight in parts of four. A span of three is short in its block and long in its part;
  // of the block half is unmasked, of the part nothing or three quarters.
  const auto first_visits = [](const std::string& window) {
    const auto router = bandit("entropy_bins = 1\nwindow = " + window);
    std::vector<bool> verified;
    for (const auto& [span, masked] : {std::pair{3, 4}, {1, 4}, {1, 1}}) {
      Numbers numbers(span, 4, {0});
      numbers.view.sub_block = {0, 4, 0, masked};
      const Route route = router->decide(numbers.view);
      verified.push_back(route.verify);
      Verdict verdict;
      verdict.commits.resize(8);
      router->observe(Canvas(1, {}), route, verdict);
    }
    return verified;
  };
  // A bucket's first visit verifies, its second does not, and of the third the reward decides: 8
  // tokens for two passes against 8 for one.
  CHECK(first_visits("block") == std::vector<bool>{true, false, false});
  CHECK(first_visits("sub-block") == std::vector<bool>{true, true, true});
}

TEST_CASE("what was learnt is the state") {
  const auto router = bandit(one_bucket), other = bandit(one_bucket);
  const Numbers step(8, 8, {0});
  const std::string fresh = router->state();
  play(*router, step.view, true, 4);
  CHECK(router->state() != fresh);
  CHECK(other->state() == fresh);
  play(*other, step.view, true, 4);
  CHECK(router->state() == other->state());
}

TEST_CASE("without options there are two bins of each, and passes cost two and one") {
  Registries registries;
  register_builtin_plugins(registries);
  OptionSet set;
  std::map<std::string, std::string> values;
  registries.routers.find("ucb")->with_options(set, [&] {
    for (const Option& option : set.options()) values[option.name()] = option.value();
  });
  for (const char* const bins : {"span_bins", "progress_bins", "entropy_bins"})
    CHECK(values[bins] == "2");
  CHECK(values["verify_cost"] == "2");
  CHECK(values["skip_cost"] == "1");
  CHECK(values["beta"] == "1");
}
