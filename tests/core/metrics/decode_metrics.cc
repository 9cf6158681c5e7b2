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

DraftRow draft(int depth, int accepted) {
  DraftRow row;
  row.depth = depth;
  row.accepted = accepted;
  return row;
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
  SampleRow sample;
  StepRow whole, cut, unverified;
  whole.verified = cut.verified = 1;
  whole.exact = cut.exact = 1;  // Both stand in slot 0 of self-drafting.
  whole.drafts = {draft(0, 1), draft(1, 1), draft(2, 1)};
  cut.drafts = {draft(0, 1), draft(1, 0), draft(2, -1)};
  unverified.drafts = {draft(0, -1), draft(1, -1)};
  whole.drafted = cut.drafted = 3;
  whole.accepted = 3, cut.accepted = 1;
  whole.committed = 3, cut.committed = 2, unverified.committed = 1;
  sample.steps = {whole, cut, unverified};
  const std::vector<SampleRow> samples = {sample};

  const std::vector<AtDepth> all = acceptance_by_depth(samples);
  REQUIRE(all.size() == 3);
  CHECK(all[0].rate() == 1);
  CHECK(all[1].rate() == 0.5);
  CHECK(all[2].rate() == 0.5);
  CHECK(all[2].conditional() == 1);  // The only walk that arrived was accepted.
  CHECK(acceptance_rate(samples) == doctest::Approx(4.0 / 6));
  CHECK(acceptance_rate(samples, false) == doctest::Approx(2.0 / 4));
  CHECK(std::isnan(acceptance_by_depth(samples, false)[0].rate()));
  CHECK(acceptance_sums(samples).rate() == doctest::Approx(4.0 / 6));
  CHECK(acceptance_sums(samples).rate(false) == doctest::Approx(2.0 / 4));
  // Of five drafts that were reached and four accepted, two each are structural.
  const std::vector<Term> terms = acceptance_terms(acceptance_sums(samples), all, Dialect::own);
  const auto trial = std::find_if(terms.begin(), terms.end(),
                                  [](const Term& term) { return term.name == "trial acceptance"; });
  REQUIRE(trial != terms.end());
  CHECK(trial->value == doctest::Approx(2.0 / 3));
}

TEST_CASE("of the drafts that are recorded only those of the span were judged") {
  SampleRow sample;
  StepRow step;
  step.verified = 1;
  step.span = 2;
  step.drafts = {draft(0, 1), draft(1, 0), draft(2, -1), draft(3, -1)};
  sample.steps = {step};
  const std::vector<AtDepth> depths = acceptance_by_depth(std::vector<SampleRow>{sample});
  REQUIRE(depths.size() == 2);
  CHECK(depths[1].drafted == 1);
  CHECK(acceptance_rate(std::vector<SampleRow>{sample}) == 0.5);
}

TEST_CASE("tokens per forward count neither judge nor look-ups") {
  SampleRow sample;
  sample.generated = 12;
  sample.valid = 8;
  sample.counts[Kind::draft].calls = 2;
  sample.counts[Kind::verify].calls = 2;
  sample.counts[Kind::aux].calls = 5;
  sample.counts[Kind::judge].calls = 1;
  const std::vector<SampleRow> samples = {sample};
  CHECK(tokens_per_forward(samples) == 3);
  CHECK(valid_per_forward(samples) == 2);
  CHECK(std::isnan(tokens_per_forward({})));
}

TEST_CASE("perplexity sums nats and tokens; entropy is in bits") {
  SampleRow one, other, unjudged;
  one.judge_nll = 3 * std::log(2.0);
  one.judge_tokens = 3;
  other.judge_nll = std::log(16.0);
  other.judge_tokens = 1;
  CHECK(perplexity(std::vector<SampleRow>{one, other, unjudged}) ==
        doctest::Approx(std::exp(7 * std::log(2.0) / 4)));
  CHECK(std::isnan(perplexity(std::vector<SampleRow>{unjudged})));
  SampleRow empty, unmeasured;  // One text has no tokens, and the other no judge could score.
  empty.judge_nll = 7, empty.judge_tokens = 0;
  unmeasured.judge_nll = kNotMeasured, unmeasured.judge_tokens = 5;
  CHECK(perplexity(std::vector<SampleRow>{one, empty, other, unmeasured}) ==
        perplexity(std::vector<SampleRow>{one, other}));
  CHECK(token_entropy_bits(std::vector<Token>{5, 5, 6, 7}) == doctest::Approx(1.5));
  CHECK(token_entropy_bits(std::vector<Token>{5, 5}) == 0);
}

}  // namespace draftlab
