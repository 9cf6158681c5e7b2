#include "analysis/report/tree_table.h"

#include <doctest/doctest.h>

#include "core/base/error.h"
#include "tests/analysis/traces.h"

namespace draftlab {

// Drafts of a node are the accepted one with probability .6, .2 and .1; by hand.
TEST_CASE("the best tree of each size") {
  const std::vector<double> rates = {.6, .2, .1};
  const std::vector<double> any = {1, 1.6, 1.96, 2.176, 2.376, 2.5056, 2.6256, 2.7456},
                            two_levels = {1, 1.6, 1.96, 2.16, 2.28, 2.4, 2.5, 2.56},
                            chain = {1, 1.6, 1.96, 2.176, 2.3056, 2.38336, 2.430016, 2.4580096};
  for (int drafts = 0; drafts < 8; ++drafts) {
    CAPTURE(drafts);
    const auto at = static_cast<std::size_t>(drafts);
    CHECK(best_tree(rates, drafts, 8).tokens == doctest::Approx(any[at]).epsilon(1e-12));
    CHECK(best_tree(rates, drafts, 2).tokens == doctest::Approx(two_levels[at]).epsilon(1e-12));
    CHECK(best_tree({.6}, drafts, 8).tokens == doctest::Approx(chain[at]).epsilon(1e-12));
  }
  // The root with two children, whose trees have five nodes and two.
  const BestTree tree = best_tree(rates, 7, 8);
  CHECK(tree.shape == "2 2 1 1 0 0 1");
  CHECK(tree.levels == 4);
  CHECK(best_tree(rates, 7, 2).shape == "3 2 1 1");
  CHECK(best_tree(rates, 7, 2).levels == 2);
}

// Of four drafts two are accepted, the third is rejected and the fourth not judged.
TEST_CASE("rates are read from the drafts that were judged") {
  const TraceFolder folder("tree-table");
  write_arms(folder / "a.h5", {{.id = "a", .label = "model", .config = "drafter = model\n"}});
  const std::string text = tree_table(Frame({folder / "a.h5"}), {}, 2, 2);
  CHECK(text.find("accepted with probability 0.667\n") != std::string::npos);
  CHECK(text.find("2.111") != std::string::npos);  // That is 1 + 2/3 + 4/9.
  CHECK(text.find("1 1") != std::string::npos);
  write_arms(folder / "b.h5", {{.id = "b", .config = "drafter = stepwise\n", .verified = false}});
  CHECK_THROWS_WITH_AS(tree_table(Frame({folder / "b.h5"}), {}, 2, 2),
                       doctest::Contains("records no judged drafts"), DataError);
}

TEST_CASE(
    "each arm has its own rates, and trees of powers of two and of as many as are asked for") {
  const TraceFolder folder("tree-table-arms");
  write_arms(
      folder / "a.h5",
      {{.id = "a", .label = "model", .config = "drafter = model\n"},
       {.id = "b", .label = "other", .config = "drafter = other\n", .drafted = 2, .accepted = 1}});
  const std::string text = tree_table(Frame({folder / "a.h5"}), {}, 5, 5);
  CAPTURE(text);
  const auto has = [&](const std::string& part) { return text.find(part) != std::string::npos; };
  CHECK(has("model: a node's drafts are accepted with probability 0.667\n"));
  CHECK(has("other: a node's drafts are accepted with probability 0.500\n"));
  // Chains of the first arm: 1 + 2/3 + 4/9 + 8/27 + 16/81 + 32/243, of 1, 2, 4 and 5 drafts.
  for (const char* const tokens : {"1.667", "2.111", "2.605", "2.737"}) CHECK(has(tokens));
  CHECK_FALSE(has("2.407"));  // It would be that of three.
}

// In each step the first draft is rejected, its sibling accepted, and the draft behind that one,
// too.
TEST_CASE("a sibling is tried where those before it were rejected") {
  const TraceFolder folder("tree-table-siblings");
  const MadeArm arm{.id = "a", .label = "model", .config = "drafter = model\n", .drafted = 3};
  SampleRow sample = made_sample(arm, 0, 0, 0);
  for (StepRow& step : sample.steps) {
    const int depth[] = {0, 0, 1}, accepted[] = {0, 1, 1};
    for (int d = 0; d < 3; ++d)
      step.drafts[d].depth = depth[d], step.drafts[d].accepted = accepted[d];
  }
  {
    TraceWriter writer(folder / "a.h5", {{}, {made_run(arm)}}, TraceOptions{}, false);
    writer.sample(sample);
    writer.close();
  }
  const std::string text = tree_table(Frame({folder / "a.h5"}), {}, 2, 2);
  // The first of two, half the time; its sibling always, in the other half.
  CHECK(text.find("accepted with probability 0.500 0.500\n") != std::string::npos);
}

}  // namespace draftlab
