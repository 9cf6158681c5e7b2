#include "core/metrics/decode_metrics.h"
#include "core/prob/accepted_prefix.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace draftlab {
namespace {

using Order = std::vector<std::int32_t>;

SampleRow sample_of(const std::vector<Order>& steps) {
  SampleRow sample;
  for (const Order& positions : steps) {
    StepRow step;
    for (std::int32_t position : positions) {
      TokenRow token;
      token.position = position;
      step.tokens.push_back(token);
    }
    step.committed = static_cast<std::int32_t>(positions.size());
    sample.steps.push_back(step);
    sample.generated += step.committed;
  }
  return sample;
}

}  // namespace

TEST_CASE("the two readings of AR-ness differ") {
  const Order left_to_right = {1, 2, 3, 4, 5, 6, 7};
  CHECK(local_ar_diffucoder(left_to_right, 2) == doctest::Approx(5.0 / 7));
  CHECK(local_ar_s2d2(left_to_right, 2) == 1);
  CHECK(global_ar(left_to_right, 2) == 1);

  const Order mixed = {2, 1, 3, 5, 4, 6};
  CHECK(local_ar_diffucoder(mixed, 2) ==
        doctest::Approx(2.0 / 6));  // That is 3 after {2, 1}, 6 after {5, 4}.
  CHECK(local_ar_s2d2(mixed, 2) == 0);
  // That is 2 and 5 leave a gap on their left.
  CHECK(global_ar(mixed, 1) == doctest::Approx(4.0 / 6));
  CHECK(global_ar(mixed, 2) == 1);

  const Order right_to_left = {4, 3, 2, 1};
  CHECK(local_ar_diffucoder(right_to_left, 1) == 0);
  CHECK(global_ar(right_to_left, 1) == doctest::Approx(0.25));
  CHECK(global_ar(right_to_left, 2) == doctest::Approx(0.5));
}

TEST_CASE("AR-ness of short orders") {
  CHECK(local_ar_s2d2(Order{3, 4}, 2) == 0);
  CHECK(local_ar_s2d2(Order{}, 1) == 0);
  CHECK(global_ar(Order{}, 1) == 0);
  CHECK(global_ar(Order{9}, 4) == 1);
  CHECK(std::isnan(local_ar_diffucoder(Order{}, 1)));
}

TEST_CASE("Kendall's tau of the order of commitment") {
  CHECK(kendall_tau(Order{3, 5, 8, 9}) == 1);
  CHECK(kendall_tau(Order{9, 8, 5, 3}) == -1);
  CHECK(kendall_tau(Order{1, 3, 2}) == doctest::Approx(1.0 / 3));  // Two of three pairs ascend.
  CHECK(std::isnan(kendall_tau(Order{1})));
}

TEST_CASE("tokens are marked over ranks, edits left out") {
  SampleRow sample =
      sample_of({{4, 10}, {11, 10}, {7}});  // The second 10 is an edit; ranks 0 2 3 1.
  CHECK(commit_order(sample) == Order{4, 10, 11, 7});
  CHECK(ranks(commit_order(sample)) == Order{0, 2, 3, 1});
  mark_ar(sample);
  CHECK(sample.ar_local == 0);
  CHECK(sample.ar_global ==
        doctest::Approx(4.0 / 4));  // There is never more than one masked position to the left.
  CHECK(sample.steps[1].tokens[1].ar_global == 0);

  SampleRow scattered = sample_of({{2, 5}, {9, 40}});  // Left to right between given tokens.
  mark_ar(scattered);
  CHECK(scattered.ar_local == doctest::Approx(0.5));  // The first k = 2 count 0.
  CHECK(scattered.ar_global == 1);
  CHECK(scattered.steps[0].tokens[1].ar_local == 0);
  CHECK(scattered.steps[1].tokens[0].ar_local == 1);
}

TEST_CASE("expected length of a span from its accept probabilities") {
  // (1 - a^(g+1)) / (1 - a) with a bonus token is E[K] of g drafts plus one, and E[C] of g + 1
  // drafts.
  const std::vector<double> six(3, 0.6), eight(4, 0.8);
  CHECK(expected_committed(six) == doctest::Approx(1.96));
  CHECK(expected_accepted(std::span(six).first(2)) + 1 == doctest::Approx(1.96));
  CHECK(expected_accepted(six) + 1 == doctest::Approx(2.176));
  CHECK(expected_committed(eight) == doctest::Approx(2.952));

  const std::vector<double> uneven = {1, 0.5, 0.2};
  CHECK(expected_accepted(uneven) == doctest::Approx(1.6));  // That is 1 + 0.5 + 0.1.
  // That is 1 + 1 + 0.5; they differ by 1 - 0.1.
  CHECK(expected_committed(uneven) == doctest::Approx(2.5));
  CHECK(expected_accepted({}) == 0);
}

TEST_CASE("acceptance by depth, with and without structural acceptances") {
  // Both steps drafted three tokens, of which the first is the target's own draw.
  StepRow whole, cut, unverified;
  whole.verified = cut.verified = 1;
  whole.exact = cut.exact = 1;
  whole.drafted = cut.drafted = 3;
  whole.accepted = 3, cut.accepted = 1;
  whole.committed = 3, cut.committed = 2, unverified.committed = 1;
  AcceptanceSums sums;
  for (const StepRow& step : {whole, cut, unverified}) sums.add(step);
  const std::vector<AtDepth> depths = {{2, 2, 2}, {2, 2, 1}, {2, 1, 1}};
  CHECK(depths[0].rate() == 1);
  CHECK(depths[1].rate() == 0.5);
  CHECK(depths[2].rate() == 0.5);
  CHECK(depths[2].conditional() == 1);  // The only walk that arrived was accepted.
  CHECK(std::isnan(AtDepth{}.rate()));
  CHECK(sums.rate() == doctest::Approx(4.0 / 6));
  CHECK(sums.rate(false) == doctest::Approx(2.0 / 4));
  // Of five drafts that were reached and four accepted, two each are structural.
  const std::vector<Term> terms = acceptance_terms(sums, depths, Dialect::own);
  const auto trial = std::find_if(terms.begin(), terms.end(),
                                  [](const Term& term) { return term.name == "trial acceptance"; });
  REQUIRE(trial != terms.end());
  CHECK(trial->value == doctest::Approx(2.0 / 3));
}

TEST_CASE("entropy is in bits") {
  CHECK(token_entropy_bits(std::vector<Token>{5, 5, 6, 7}) == doctest::Approx(1.5));
  CHECK(token_entropy_bits(std::vector<Token>{5, 5}) == 0);
}

}  // namespace draftlab
