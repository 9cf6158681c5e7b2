// Computes every outcome of a decoder with its probability. `draftlab certify` proves its claims
// with these.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "core/config/composition.h"
#include "core/loop/decoder.h"

namespace draftlab {

// The probability of each finished text.
using TextLaw = std::map<std::vector<Token>, double>;

// What a decoder does to one prompt, exactly.
struct Outcomes {
  // The probability of each finished canvas.
  TextLaw probability;
  // The expected function evaluations of the target.
  double expected_nfe = 0;
  // The expected number of tokens of the first step.
  double first_step = 0;
  // The worst case over decodes likelier than kDust.
  std::int64_t worst_nfe = 0;
  // The number of outcomes of steps that were walked.
  std::int64_t walked = 0;
  // How many of these led to a state that another had reached.
  std::int64_t merged = 0;
  // How many of these were run on beside the decode that they were merged with, and went on alike.
  std::int64_t compared = 0;
  // The probability mass of the choices that were not followed.
  double dropped = 0;
};

// Rounding alone makes decodes this unlikely (a ratio of 1 - 1e-16 that could be rejected), so they
// do not count for the worst case.
inline constexpr double kDust = 1e-12;

// How outcomes are walked.
struct Walk {
  // Whether each state reached by one step is continued once, whatever led to it. A sample of the
  // merged decodes is run on (merged_states.h).
  bool merge = true;
  // The most outcomes that may be walked.
  std::int64_t most = 0;
  // This is told how many have been walked.
  std::function<void(std::int64_t)> progress = {};
};

// Walks step by step. Throws ConfigError beyond the most outcomes, and a Fault unless the
// probabilities sum to one within 1e-9.
Outcomes enumerate(const Composition& composition, const Models& models, const Prompt& prompt,
                   const Walk& walk);

// Estimates how many outcomes enumerate() would walk, from random probes. It is right to a small
// factor, at the cost of a few hundred decodes.
double estimated_outcomes(const Composition& composition, const Models& models,
                          const Prompt& prompt, bool merge);

// Returns half the sum of absolute differences.
double total_variation(const TextLaw& a, const TextLaw& b);

}  // namespace draftlab
