// The routers that compare a number with a threshold: scripted numbers, and the decisions they must
// give.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/config/composition.h"
#include "core/loop/contract.h"
#include "plugins/builtin.h"

using namespace draftlab;

namespace {

std::unique_ptr<Router> router(const std::string& name, const std::string& options = "") {
  Registries registries;
  register_builtin_plugins(registries);
  Diagnostics diagnostics;
  const Config config = Config::parse("[router." + name + "]\n" + options, "test.ini", diagnostics);
  const auto bound = registries.routers.find(name)->bind(config, "router." + name, diagnostics,
                                                         &registries.routers);
  diagnostics.raise();
  return bound.make();
}

StepView expecting(double prefix, int confident = 0) {
  StepView view;
  view.expected = prefix;
  view.preview = confident;
  return view;
}

StepView spanning(int length) {
  StepView view;
  view.span.length = length;
  return view;
}

// Decides, and learns, step by step.
std::vector<int> decisions(Router& router, const std::vector<StepView>& steps) {
  std::vector<int> made;
  for (const StepView& step : steps) {
    const Route route = router.decide(step);
    made.push_back(route.verify);
    router.observe(Canvas(1, {}), route, {});
  }
  return made;
}

std::vector<StepView> expecting_each(const std::vector<double>& prefixes) {
  std::vector<StepView> steps;
  for (const double prefix : prefixes) steps.push_back(expecting(prefix));
  return steps;
}

}  // namespace

TEST_CASE("min-span verifies spans of at least so many tokens") {
  CHECK(decisions(*router("min-span", "span = 3"),
                  {spanning(1), spanning(2), spanning(3), spanning(4)}) == std::vector{0, 0, 1, 1});
  CHECK(decisions(*router("min-span", "span = 1"), {spanning(1), spanning(8)}) ==
        std::vector{1, 1});
}

TEST_CASE("min-span verifies from two tokens on where nothing is said") {
  CHECK(decisions(*router("min-span"), {spanning(1), spanning(2), spanning(3)}) ==
        std::vector{0, 1, 1});
}

TEST_CASE("the static score is the expected prefix less a constant") {  // Equation 6 of S2D2.
  const auto rule = router("score", "score = static\ncost = 2\nthreshold = 0.5");
  CHECK(rule->decide(expecting(3.25, 7)).score == 1.25);
  // 2.4 - 2 < 0.5; 2.5 - 2 reaches it.
  CHECK(decisions(*rule, expecting_each({2.4, 2.5, 3})) == std::vector{0, 1, 1});
}

TEST_CASE("the score may verify where the threshold is not reached") {
  const std::string options = "score = static\ncost = 0\nthreshold = 2\nverify = ";
  CHECK(decisions(*router("score", options + "below"), expecting_each({1.9, 2, 3})) ==
        std::vector{1, 0, 0});
  CHECK(decisions(*router("score", options + "at-least"), expecting_each({1.9, 2, 3})) ==
        std::vector{0, 1, 1});
}

// Equation 6 of S2D2.
TEST_CASE("the dynamic score charges for each draft that is confident anyway") {
  const auto rule = router("score", "score = dynamic\ncost = 1.5\nthreshold = 0");
  CHECK(rule->decide(expecting(4, 2)).score == 1);
  // 4 - 1.5 * 3 < 0; 4 - 1.5 * 2 > 0; 3 - 1.5 * 2 = 0.
  CHECK(decisions(*rule, {expecting(4, 3), expecting(4, 2), expecting(3, 2)}) ==
        std::vector{0, 1, 1});
}

TEST_CASE("a score below every threshold of Table 7 verifies always, whatever the cost") {
  // K-hat > 0, so K-hat - 4 >= -5: the paper's cells (-5, 1), (-5, 2), (-5, 4) and (-1, 1) are one
  // policy.
  const auto rule = router("score", "score = static\ncost = 4\nthreshold = -5");
  CHECK(decisions(*rule, expecting_each({1e-9, 0.5, 32})) == std::vector{1, 1, 1});
}

TEST_CASE("an expectation that is not finite is refused by name, and decides nothing") {
  const double infinite = std::numeric_limits<double>::infinity();
  for (const double expected : {std::nan(""), infinite, -infinite})
    CHECK_THROWS_WITH_AS(check_readable({"router", "hysteresis"}, expected),
                         doctest::Contains("router 'hysteresis' reads"), Fault);
  CHECK_NOTHROW(check_readable({"router", "hysteresis"}, 2));
}

TEST_CASE("hysteresis keeps its state between the thresholds") {  // Algorithm 4 of S2D2.
  // Costs nothing, so the score is the expected prefix: on from 3, off below 1.
  const std::string options = "score = static\ncost = 0\non = 3\noff = 1\n";
  const std::vector<StepView> steps = expecting_each({2, 3, 2, 1, 0.9, 2, 3.5});
  CHECK(decisions(*router("hysteresis", options), steps) == std::vector{0, 1, 1, 1, 0, 0, 1});
  CHECK(decisions(*router("hysteresis", options + "initial = on"), steps) ==
        std::vector{1, 1, 1, 1, 0, 0, 1});
  CHECK(decisions(*router("hysteresis", options + "strict = true"), steps) ==
        std::vector{0, 0, 0, 0, 0, 0, 1});  // The score 3 is not above 3.
}

TEST_CASE("hysteresis remembers what it decided, not what was done instead") {
  const auto rule = router("hysteresis", "score = static\ncost = 0\non = 3\noff = 1\n");
  Route route = rule->decide(expecting(2));
  CHECK_FALSE(route.verify);
  route.verify = true;  // A shadow or exploration does so.
  rule->observe(Canvas(1, {}), route, {});
  CHECK(rule->state() == "off");
  CHECK_FALSE(rule->decide(expecting(2)).verify);
}

TEST_CASE("thresholds in the wrong order are refused") {
  CHECK_THROWS_WITH_AS(router("hysteresis", "on = 0\noff = 1"),
                       doctest::Contains("off must not be above on"), ConfigError);
}

TEST_CASE("a router that reads the expected prefix needs an estimator") {
  Registries registries;
  register_builtin_plugins(registries);
  const std::string table = "model = table\ntask = positions\nrouter = ";
  for (const char* name : {"score", "hysteresis", "explore\nrouter.explore.of = score"}) {
    CAPTURE(name);
    Diagnostics diagnostics;
    compose(Config::parse(table + name + "\n", "a.ini", diagnostics), registries, diagnostics);
    CHECK_THROWS_WITH_AS(
        diagnostics.raise(),
        doctest::Contains("reads the expected accepted prefix; write estimator = NAME"),
        ConfigError);
    Diagnostics none;
    compose(Config::parse(table + name + "\nestimator = entropy\n", "a.ini", none), registries,
            none);
    CHECK(none.empty());
  }
}
