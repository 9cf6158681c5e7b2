// Computes how many drafts of a span are accepted, and how many tokens are committed, in
// expectation.
#pragma once

#include <span>

namespace draftlab {

// `accept` holds the acceptance probabilities a_1..a_L of a span; let S_k = a_1 ... a_k. The
// expected accepted prefix is E[K] = S_1 + ... + S_L. The expected number of committed tokens,
// which counts the replacement and no bonus token, is E[C] = S_0 + ... + S_{L-1} = E[K] + 1 - S_L.
double expected_accepted(std::span<const double> accept);
double expected_committed(std::span<const double> accept);

}  // namespace draftlab
