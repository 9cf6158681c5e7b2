// Estimators and routers, asked again about the steps of a trace, without a model.
//
// A recorded draft has its acceptance probability a_i, so a step says more than what happened in
// it. With S_k = a_1 ... a_k the accepted prefix K of L drafts has expectation E[K] = S_1 + ... +
// S_L, and the tokens committed without a bonus token E[C] = S_0 + ... + S_{L-1}. What an estimator
// says, less E[K], is its error; K - E[K] is luck, and no estimator's fault.
//
// A router is asked for its decision in each logged state; what it would have met had it decided so
// is unknown. Its regret is of one step, by E[C] a forward. Only where `explore` logged
// propensities is there an estimate of what it would have done instead.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/frame.h"
#include "analysis/statistics.h"
#include "core/config/registry.h"
#include "core/parts/estimator.h"
#include "core/parts/router.h"

namespace draftlab {

struct ReplayRequest {
  std::vector<std::pair<std::string, Bound<Estimator>>> estimators;
  struct Candidate {
    std::string name;
    Bound<Router> router;
    std::optional<Bound<Estimator>> estimator;  // whose expectation it reads
  };
  std::vector<Candidate> routers;
  double verify_cost = 2, skip_cost = 1;  // forwards of a verified step, and of any other
  int vocabulary = 0;                     // of the target, where the trace is too old to say
};

// Errors of an expected prefix, over the judged steps. Intervals are of resampled prompts.
struct EstimatorError {
  std::string name;
  Estimate error, absolute;  // K-hat - K: mean, and mean of the absolute value
  double spread = 0;         // standard deviation of K-hat - K
  double error_committed = 0,
         absolute_committed = 0;  // against what was committed, the replacement included
  double error_expected = 0, spread_expected = 0,
         absolute_expected = 0;         // K-hat - E[K]; NaN where no a_i is known past a rejection
  double error_expected_committed = 0;  // K-hat - E[C]
  Estimate brier;  // sum over k of (S-hat_k - 1[K >= k])^2; NaN where the estimator names no
                   // probabilities
  struct Bin {
    double said = 0, was = 0;
    std::int64_t drafts = 0;
  };
  std::vector<Bin> reliability;  // ten bins of alpha: its mean, and the mean of a_i
};

struct Decisions {
  std::string name;
  std::int64_t steps = 0;
  double verified = 0, agreement = 0;     // shares
  double rate = 0, best = 0, regret = 0;  // expected tokens a forward of what it decided, of the
                                          // better choice, and the difference
  Estimate value;        // tokens a forward if it had decided, self-normalised; NaN where refused
  double effective = 0;  // sample size: (sum w)^2 / sum w^2
  std::string refused;   // why there is no such estimate
};
inline constexpr double kLeastEffective = 50;

struct Replay {
  std::int64_t steps = 0, judged = 0, known = 0;  // known: every a_i of the span
  std::int64_t prompts = 0;
  double luck = 0, luck_spread = 0;        // K - E[K]
  double prefix = 0, length = 0;           // means of K and of L
  std::vector<EstimatorError> estimators;  // stored ones (step_expected_*) first
  std::vector<Decisions> routers;          // what was logged, always and never first
};

// DataError: the traces hold no drafts, or none that was judged.
Replay replay(const Frame& frame, const ReplayRequest& request);
std::string replay_tables(const Replay& replay, bool reliability);

}  // namespace draftlab
