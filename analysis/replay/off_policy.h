// What another router would have cost, had it decided: off-policy estimates from the propensities
// that `router = explore` logs.
//
// A text is a trajectory: the router's decisions, and the forwards between them. The explored
// router b took each decision with the probability that is logged; another one, pi, would have
// taken it with some probability, too, as long as it had decided alike until then, so that it had
// seen the same and learnt the same. Their quotients multiply to the weight w_t of the trajectory
// up to decision t. With c_t the forwards from decision t to the next:
//
//   inverse propensity   the mean of sum_t w_t c_t (Precup, Sutton, Singh, 2000)
//   self-normalised      sum w_T C / sum w_T over texts, with C the forwards of a text
//   doubly robust        the mean of sum_t (w_t c_t + w_{t-1} V(s_t) - w_t Q(s_t, a_t)) (Jiang and
//                        Li, 2016), which has the right expectation whatever Q, and less variance
//                        where Q is near: here Q is linear in the masked positions for each
//                        decision, fitted on the other half of the prompts
//
// The first and the last have no bias; the second has one that falls with the number of texts.
// Intervals resample prompts.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/frame/frame.h"
#include "analysis/replay/logged_step.h"
#include "analysis/report/statistics.h"
#include "core/base/table.h"

namespace draftlab {

struct OffPolicyValue {
  std::string arm, router;
  std::int64_t texts = 0;
  // The forwards of a text, by each of the estimators.
  Estimate inverse, normalised, robust;
  // Tokens a forward, self-normalised.
  Estimate tokens;
  // The effective number of texts, (sum w)^2 / sum w^2.
  double effective = 0;
  // Why there are no estimates; empty where there are.
  std::string refused;
};

// Fewer effective texts than this are not enough for the intervals to hold (docs/REPORTS.md).
inline constexpr double kLeastEffective = 50;

class OffPolicy {
 public:
  // `routers` are the names of the candidates.
  OffPolicy(const Frame& frame, std::vector<std::string> routers);
  // Adds a step of the frame, in order. `verifies` says how probably each candidate verifies it;
  // it is empty where there was nothing to decide.
  void hear(const LoggedStep& step, const std::vector<double>& verifies);
  // Returns the values arm by arm, and router by router.
  std::vector<OffPolicyValue> values() const;

 private:
  struct Decision {
    bool verified = false;
    double propensity = 1;
    std::int32_t masked = 0;
    // The forwards from this decision to the next.
    double forwards = 0;
    // How probably each candidate verifies.
    std::vector<float> verifies;
  };
  struct Trajectory {
    std::int64_t sample = 0;
    std::int32_t prompt = 0;
    // The forwards before the first decision, and all of them.
    double before = 0, forwards = 0;
    double tokens = 0;
    std::vector<Decision> decisions;
  };
  struct Arm {
    std::vector<Trajectory> trajectories;
    // Whether some decision was left to chance, whether something else was committed than was
    // routed, and whether some decision cannot be asked about.
    bool explored = false, shadowed = false, unknown = false;
  };
  // A fit of the forwards that are left, for one half of the prompts: (intercept, slope) of the
  // masked positions, after skipping and after verifying.
  using Fit = std::array<std::array<double, 2>, 2>;
  struct Weighed;

  static Fit fitted(const Arm& arm, int half);
  static Weighed weighed(const Trajectory& trajectory, std::size_t router, const Fit& fit);
  OffPolicyValue value(std::size_t arm, std::size_t router) const;

  const Frame& frame_;
  std::vector<std::string> routers_;
  std::vector<double> sample_forwards_, sample_tokens_;
  std::vector<Arm> arms_;
};

// The table of the values, and why there are none.
std::string off_policy_table(const std::vector<OffPolicyValue>& values,
                             TableForm form = TableForm::text);

}  // namespace draftlab
