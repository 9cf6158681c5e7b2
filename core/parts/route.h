// A router's decision about one step.
#pragma once

#include <vector>

#include "core/prob/types.h"

namespace draftlab {

struct Route {
  bool verify = true;
  // The number that decided; a router that computes none leaves it as it is.
  double score = kNotMeasured;
  // The probability with which this decision was taken.
  double propensity = 1;
  // The loop reverses the decision with this probability, and then says so in `propensity`.
  double flip = 0;
  // The router's own note for `observe`: where what it learns from this step belongs.
  int context = 0;
  // What the router computed for this decision, handed back to its `observe` as it was: a memo is
  // part of the step, never of the state.
  std::vector<double> memo = {};
};

}  // namespace draftlab
