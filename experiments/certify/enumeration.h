// Every outcome of a decoder with its probability: what `draftlab certify` proves with.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "core/config/composition.h"
#include "core/loop/decoder.h"

namespace draftlab {

// What a decoder does to one prompt, exactly.
struct Outcomes {
  std::map<std::vector<Token>, double> probability;  // of a finished canvas
  double expected_nfe = 0;                           // of the target
  double first_step = 0;                             // expected tokens of the first step
  std::int64_t worst_nfe = 0;                        // over decodes likelier than kDust
  std::int64_t walked = 0;                           // outcomes of steps
  std::int64_t merged = 0;  // of which led to a state that another had reached
  double dropped = 0;       // mass of the choices that were not followed
};

// Rounding alone makes decodes this unlikely (a ratio of 1 - 1e-16 that could be rejected), so they
// do not count as worst case.
inline constexpr double kDust = 1e-12;

// Walks step by step: each state reached by one step is continued once, whatever led to it, when
// `merge` says so. ConfigError beyond `most` outcomes; Fault unless the probabilities sum to one
// within 1e-9. `progress` hears how many have been walked.
Outcomes enumerate(const Composition& composition, const Models& models, const Prompt& prompt,
                   bool merge, std::int64_t most,
                   const std::function<void(std::int64_t)>& progress = {});

// About how many outcomes enumerate() would walk, from random probes: right to a small factor, at
// the cost of a few hundred decodes.
double estimated_outcomes(const Composition& composition, const Models& models,
                          const Prompt& prompt, bool merge);

// Half the sum of absolute differences.
double total_variation(const Outcomes& a, const Outcomes& b);

}  // namespace draftlab
