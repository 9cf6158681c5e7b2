// How many drafts of a span are accepted, and how many tokens are committed, in expectation.
#pragma once

#include <span>

namespace draftlab {

// Accept probabilities a_1..a_L of a span; S_k = a_1 ... a_k. Expected accepted prefix E[K] = S_1 +
// ... + S_L; expected number committed, the replacement included and no bonus token, E[C] = S_0 +
// ... + S_{L-1} = E[K] + 1 - S_L.
double expected_accepted(std::span<const double> accept);
double expected_committed(std::span<const double> accept);

}  // namespace draftlab
