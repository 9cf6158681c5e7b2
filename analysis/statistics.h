// Intervals and tests for paired experiments: the unit is the prompt, and both arms of a comparison decoded the same ones.
// Everything is deterministic: the bootstrap draws from the counter-based generator of core/chance.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace draftlab {

struct Interval {
  double low = 0, high = 0;
};

struct Estimate {
  double value = 0;
  Interval interval;  // NaN where there are too few prompts to say (fewer than two)
};

struct Bootstrap {
  int draws = 2000;
  std::uint64_t seed = 1;
};

// Ratio of sums, baseline / arm: how many times less the arm costs. One number a prompt and arm, samples summed beforehand,
// all positive. The interval is BCa on the logarithm, from resampled prompts, the same draw for both arms: resampling the arms
// apart is uselessly wide, resampling single samples too narrow. A 95 % interval of 20 prompts covers at about 92 %, of 200 at 95 %.
Estimate speedup(std::span<const double> baseline, std::span<const double> arm, double confidence = 0.95, Bootstrap bootstrap = {});

// Mean of arm - baseline over prompts, with Student's interval.
Estimate difference(std::span<const double> baseline, std::span<const double> arm, double confidence = 0.95);

// Two one-sided tests: the arms are equivalent when the interval of the difference at confidence 1 - 2 alpha (90 %) lies
// inside +-margin. A difference that is merely not significant shows nothing.
struct Equivalence {
  enum class Finding { equivalent, undecided, different };  // different: the interval lies wholly outside the margin
  Finding finding = Finding::undecided;
  Estimate difference;  // at confidence 1 - 2 alpha
  double margin = 0;
  int prompts = 0;
  double needed = 0;    // prompts for 80 % power at this spread and a true difference of zero
};
Equivalence equivalence(std::span<const double> baseline, std::span<const double> arm, double margin, double alpha = 0.05);

// Prompts needed to show equivalence when there is none to find: (z_{1-alpha} + z_{1-beta/2})^2 sd^2 / margin^2, which is
// 8.56 sd^2 / margin^2 at alpha = 0.05 and 80 % power; and to show "no worse" one-sidedly, 6.18 sd^2 / margin^2.
double prompts_for_equivalence(double sd, double margin, double alpha = 0.05, double power = 0.8);
double prompts_for_non_inferiority(double sd, double margin, double alpha = 0.05, double power = 0.8);

// Two-sided p value of the mean of paired differences under random signs: exact up to 14 prompts, else from `bootstrap.draws`.
double sign_flip_p(std::span<const double> differences, Bootstrap bootstrap = {10000, 1});

// Holm's adjusted p values, in the order given: for all arms of one metric against one declared baseline.
std::vector<double> holm(std::span<const double> p);

}  // namespace draftlab
