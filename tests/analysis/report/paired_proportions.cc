#include "analysis/report/paired_proportions.h"

#include <doctest/doctest.h>

#include "tests/analysis/report/equivalence_size.h"

namespace draftlab {
namespace {

using Finding = Equivalence::Finding;

}  // namespace

TEST_CASE("no discordant prompt is no proof") {
  // The arms agree on all prompts. By the rule of three, 60 of them leave a difference of 0.05.
  CHECK(equivalence({0, 0, 3}, 0.03).finding == Finding::unjudged);
  CHECK(equivalence({0, 0, 60}, 0.03).finding == Finding::undecided);
  CHECK(difference({0, 0, 60}, 0.9).interval.high > 0.05);
  CHECK(difference({0, 0, 60}, 0.9).interval.low < -0.05);
  CHECK(equivalence({0, 0, 300}, 0.03).finding == Finding::equivalent);
  CHECK_FALSE(non_inferiority({0, 0, 60}, 0.03).shown);
  CHECK(non_inferiority({0, 0, 300}, 0.03).shown);
  // So many prompts would show it, without a discordant one: 0.03 n - 1 = 1.645 sqrt(0.0291 n).
  const double needed = equivalence({0, 0, 60}, 0.03).needed;
  CHECK(needed > 145);
  CHECK(needed < 160);
}

TEST_CASE("interval and p value of a difference of shares are one test") {
  // Edwards' correction of McNemar's test: (|10 - 2| - 1) / sqrt(12) is 2.0207.
  CHECK(score_p({10, 2, 60}) == doctest::Approx(0.04331).epsilon(1e-3));
  CHECK(score_p({2, 2, 60}) == 1);
  CHECK(score_p({0, 0, 60}) == 1);
  for (const int prompts : {12, 60, 300}) {
    for (int gained = 0; gained <= 12; ++gained) {
      for (int lost = 0; gained + lost <= 12; ++lost) {
        const Discordance found{static_cast<double>(gained), static_cast<double>(lost), prompts};
        const Estimate estimate = difference(found);
        CAPTURE(prompts);
        CAPTURE(gained);
        CAPTURE(lost);
        CHECK(estimate.value == doctest::Approx((gained - lost) / static_cast<double>(prompts)));
        CHECK((estimate.interval.low > 0 || estimate.interval.high < 0) == (score_p(found) < 0.05));
        CHECK(difference({found.lost, found.gained, prompts}).interval.high ==
              doctest::Approx(-estimate.interval.low));
      }
    }
  }
}

TEST_CASE("at a true difference of the margin, equivalence is said in at most 5 % of experiments") {
  double most = 0;
  for (const int prompts : {3, 10, 60}) {
    for (const double margin : {0.03, 0.1, 0.3, 0.5}) {
      const EquivalenceSize size(prompts, margin);
      for (const double rate : {0.5, 0.8, 0.95, 0.999}) {
        CAPTURE(prompts);
        CAPTURE(margin);
        CAPTURE(rate);
        const double said = size.largest(rate);
        CHECK(said <= 0.05);
        most = std::max(most, said);
      }
    }
  }
  CHECK(most > 0.03);  // It is said where it can be.
}

TEST_CASE("what lies beyond the margin is different, and better is no worse") {
  CHECK(equivalence({35, 5, 40}, 0.03).finding == Finding::different);
  CHECK(equivalence({5, 35, 40}, 0.03).finding == Finding::different);
  CHECK(non_inferiority({35, 5, 40}, 0.03).shown);
  CHECK_FALSE(non_inferiority({35, 5, 40}, 0.03, -1).shown);
  CHECK(non_inferiority({5, 35, 40}, 0.03, -1).shown);
}

}  // namespace draftlab
