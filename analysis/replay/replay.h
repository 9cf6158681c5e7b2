// Asks estimators and routers again about the steps of a trace, without a model.
//
// A recorded draft has its acceptance probability a_i, so a step says more than what happened in
// it. With S_k = a_1 ... a_k the accepted prefix K of L drafts has expectation E[K] = S_1 + ... +
// S_L, and the tokens committed without a bonus token have E[C] = S_0 + ... + S_{L-1}. An
// estimator's expectation minus E[K] is its error; K - E[K] is luck, and no estimator's fault.
//
// A router is asked for its decision in each logged state, which says where it differs from what
// was logged. What it would have cost is another question, because it would have met other states:
// where `explore` logged propensities there are estimates (off_policy.h), and elsewhere nothing is
// said of it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/frame/frame.h"
#include "analysis/replay/off_policy.h"
#include "analysis/report/statistics.h"
#include "core/base/table.h"
#include "core/loop/arm.h"
#include "core/parts/estimator.h"
#include "core/parts/router.h"

namespace draftlab {

struct ReplayRequest {
  std::vector<std::pair<std::string, Factory<Estimator>>> estimators;
  struct Candidate {
    std::string name;
    Factory<Router> router;
    // The estimator whose expectation the router reads.
    std::optional<Factory<Estimator>> estimator;
  };
  std::vector<Candidate> routers;
  // The vocabulary of the target, where the trace is too old to say.
  int vocabulary = 0;
};

// The errors of an expected prefix, over the judged steps. Intervals are of resampled prompts.
struct EstimatorError {
  std::string name;
  // The mean of K-hat - K, and the mean of its absolute value.
  Estimate error, absolute;
  // The standard deviation of K-hat - K.
  double spread = 0;
  // The same against what was committed, the replacement included.
  double error_committed = 0, absolute_committed = 0;
  // The same of K-hat - E[K]; NaN where no a_i is known past a rejection.
  double error_expected = 0, spread_expected = 0, absolute_expected = 0;
  // The mean of K-hat - E[C].
  double error_expected_committed = 0;
  // The sum over k of (S-hat_k - 1[K >= k])^2; NaN where the estimator gives no probabilities.
  Estimate brier;
  struct Bin {
    double said = 0, was = 0;
    std::int64_t drafts = 0;
  };
  // Ten bins of alpha, each with its mean and the mean of a_i.
  std::vector<Bin> reliability;
};

// What a router decides in the logged states.
struct Decisions {
  std::string name;
  std::int64_t steps = 0;
  // Both are shares of the steps.
  double verified = 0, agreement = 0;
};
// The rules that are shown beside what was logged, whatever routers are asked.
inline constexpr std::array kFixedRules = {"always", "never"};

struct Replay {
  // `known` counts the steps of whose span every a_i is known.
  std::int64_t steps = 0, judged = 0, known = 0;
  std::int64_t prompts = 0;
  // The mean and the standard deviation of K - E[K].
  double luck = 0, luck_spread = 0;
  // The means of K and of L.
  double prefix = 0, length = 0;
  // Stored estimators (step_expected_*) come first.
  std::vector<EstimatorError> estimators;
  // What was logged, always and never come first.
  std::vector<Decisions> routers;
  // What each would have cost: fixed rules come first.
  std::vector<OffPolicyValue> values;
};

// Throws DataError when the traces hold no drafts, or none that was judged, when a router is asked
// of a file that does not say what it saw, and when an estimate is no number.
Replay replay(const Frame& frame, const ReplayRequest& request);
std::string replay_tables(const Replay& replay, bool reliability, TableForm form = TableForm::text);

}  // namespace draftlab
