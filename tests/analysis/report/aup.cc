// The check value of AUP, and the points that count.
#include "analysis/report/aup.h"

#include <doctest/doctest.h>

#include <sstream>

#include "core/base/error.h"
#include "tests/analysis/traces.h"

namespace draftlab {
namespace {

double area(std::vector<AupPoint> points, double best) { return aup(points, best); }

TEST_CASE("AUP of three settings, in whatever order they come") {
  CHECK(area({{1, 80}, {2, 79}, {4, 76}}, 80) == doctest::Approx(299.552344708).epsilon(1e-10));
  CHECK(area({{4, 76}, {1, 80}, {2, 79}}, 80) == doctest::Approx(299.552344708).epsilon(1e-10));
  CHECK(area({{1, 80}}, 80) == 80);
  // A better method lowers it, except before the first point.
  CHECK(area({{1, 80}, {2, 79}, {4, 76}}, 90) < 299);
  CHECK(area({{1, 80}}, 90) == 80);
}

TEST_CASE(
    "a setting in between that lost more than 5 points does not count; at the end it may not") {
  CHECK(area({{1, 80}, {2, 74.9}, {3, 80}}, 80) == doctest::Approx(80 + 2 * 80));
  CHECK(area({{1, 80}, {2, 75}, {3, 80}}, 80) < 80 + 2 * 80);
  CHECK_THROWS_AS(area({{1, 80}, {2, 74.9}}, 80), DataError);
  // Five points are not more than five: 80 and then (80 + 75 exp(-3 * 5 / 80)) / 2.
  CHECK(area({{1, 80}, {2, 75}}, 80) == doctest::Approx(151.0886).epsilon(1e-6));
}

TEST_CASE("the table of AUP: settings, the best accuracy, the most parallel, and the area") {
  // The stepwise method commits one token a forward and is right in half of the prompts. The other
  // has two settings of 3 tokens in two forwards, then of 4 in two, right in all and in half.
  const TraceFolder folder("aup");
  const auto arm = [](const std::string& id, const std::string& method, int accepted, bool all) {
    MadeArm made{.id = id,
                 .label = id,
                 .config = "drafter = " + method + "\n[run]\nseed = 1\n[decode]\ndraft_length = " +
                           std::to_string(accepted + 1) + "\n",
                 .steps = 4,
                 .drafted = 4,
                 .accepted = accepted};
    made.score = [all](int p) { return all || p % 2 ? 1 : 0; };
    return made;
  };
  write_arms(folder / "a.h5",
             {arm("a", "self", 2, true), arm("b", "self", 3, true), arm("c", "prompt", 1, false)});
  const std::string text = aup_table(Frame({folder / "a.h5"}),
                                     {.by = {"drafter", "decode.draft_length"}}, "exact_match");
  CAPTURE(text);
  const auto row = [&](const std::string& name) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::vector<std::string> cells;
      for (std::string word; words >> word;)
        if (word != "|") cells.push_back(word);
      if (!cells.empty() && cells[0] == name) return cells;
    }
    return std::vector<std::string>{};
  };
  using Cells = std::vector<std::string>;
  // 1.5 * 100 and then .5 * (100 + 100) / 2.
  CHECK(row("self") == Cells{"self", "2", "100.00", "2.00", "200.00"});
  // Of one setting no weight is taken: 1 * 50.
  CHECK(row("prompt") == Cells{"prompt", "1", "50.00", "1.00", "50.00"});
}

}  // namespace
}  // namespace draftlab
