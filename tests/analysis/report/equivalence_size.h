// How often "equivalent" is said where the true difference is the margin. Nothing is drawn: all
// outcomes of an experiment are summed with their probabilities.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/report/paired_proportions.h"

namespace draftlab {

class EquivalenceSize {
 public:
  EquivalenceSize(int prompts, double margin) : prompts_(prompts), margin_(margin) {
    for (int gained = 0; gained <= prompts; ++gained) {
      for (int lost = 0; gained + lost <= prompts; ++lost) {
        const Discordance found{static_cast<double>(gained), static_cast<double>(lost), prompts};
        if (equivalence(found, margin).finding == Equivalence::Finding::equivalent)
          claimed_.push_back({gained, lost});
      }
    }
  }

  // Returns the largest share of experiments that say "equivalent", where the baseline answers this
  // share of prompts rightly and the arm's share lies a margin below or above: over all ways in
  // which the answers of a prompt may depend on each other.
  double largest(double rate) const {
    double most = 0;
    for (const double other : {rate - margin_, rate + margin_}) {
      if (other < 0 || other > 1) continue;
      // The share of prompts that the weaker one alone gets right.
      const double strong = std::max(rate, other), weak = std::min(rate, other);
      constexpr int kSteps = 40;
      for (int i = 0; i <= kSteps; ++i)
        most = std::max(most, said(std::min(1 - strong, weak) * i / kSteps));
    }
    return most;
  }

 private:
  struct Outcome {
    int gained, lost;
  };

  // A claim looks alike from both sides, so `rare` may be what is gained or what is lost.
  double said(double rare) const {
    const double often = rare + margin_, alike = std::max(0.0, 1 - rare - often);
    double sum = 0;
    for (const Outcome& outcome : claimed_) {
      const int rest = prompts_ - outcome.gained - outcome.lost;
      sum +=
          std::exp(std::lgamma(prompts_ + 1) - std::lgamma(outcome.gained + 1) -
                   std::lgamma(outcome.lost + 1) - std::lgamma(rest + 1) +
                   power(often, outcome.gained) + power(rare, outcome.lost) + power(alike, rest));
    }
    return sum;
  }

  static double power(double base, int exponent) {
    return exponent == 0 ? 0 : exponent * std::log(base);
  }

  int prompts_;
  double margin_;
  std::vector<Outcome> claimed_;
};

}  // namespace draftlab
