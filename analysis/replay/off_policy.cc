#include "analysis/replay/off_policy.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/table.h"
#include "core/base/text.h"

namespace draftlab {
namespace {

// The half of the prompts that a prompt belongs to. Q is fitted on the other one, so that it does
// not depend on what it is used for.
int half_of(std::int32_t prompt) { return prompt % 2; }

// Sums of each prompt, and a ratio of two of them.
class Ratio {
 public:
  explicit Ratio(std::size_t prompts) : above_(prompts, 0.0), below_(prompts, 0.0) {}
  void add(std::int32_t prompt, double above, double below) {
    const auto at = static_cast<std::size_t>(prompt);
    above_[at] += above, below_[at] += below, used_ = true;
    seen_.resize(above_.size());
    seen_[at] = 1;
  }
  Estimate estimate() const {
    std::vector<double> columns[2];
    for (std::size_t i = 0; used_ && i < above_.size(); ++i)
      if (seen_[i]) columns[0].push_back(above_[i]), columns[1].push_back(below_[i]);
    return cluster_bootstrap(
        columns, [](std::span<const double> s) { return s[1] > 0 ? s[0] / s[1] : kNotMeasured; });
  }

 private:
  std::vector<double> above_, below_;
  std::vector<char> seen_;
  bool used_ = false;
};

// The least squares of y on (1, x). Without two different x it is the mean.
class LineSums {
 public:
  void add(double x, double y) { ++n_, x_ += x, y_ += y, xx_ += x * x, xy_ += x * y; }
  std::array<double, 2> solved() const {
    if (n_ == 0) return {0, 0};
    const double spread = xx_ - x_ * x_ / n_;
    const double slope = spread > 1e-9 ? (xy_ - x_ * y_ / n_) / spread : 0;
    return {(y_ - slope * x_) / n_, slope};
  }

 private:
  double n_ = 0, x_ = 0, y_ = 0, xx_ = 0, xy_ = 0;
};

std::string bounds(const Estimate& estimate, int digits) {
  if (std::isnan(estimate.value)) return "-";
  std::string text = fixed(estimate.value, digits);
  if (!std::isnan(estimate.interval.low))
    text += " [" + fixed(estimate.interval.low, digits) + ", " +
            fixed(estimate.interval.high, digits) + "]";
  return text;
}

}  // namespace

// What one trajectory adds to the estimates.
struct OffPolicy::Weighed {
  double weight = 1, inverse = 0, robust = 0;
  // Whether the router would have decided as the log never does.
  bool unsupported = false;
};

OffPolicy::OffPolicy(const Frame& frame, std::vector<std::string> routers)
    : frame_(frame), routers_(std::move(routers)), arms_(frame.arms().size()) {
  sample_forwards_.assign(frame.samples().size(), 0.0);
  for (const char* kind : {"prefill", "draft", "verify", "commit"}) {
    const std::vector<double> forwards = frame.numbers(std::string("sample_nfe_") + kind);
    for (std::size_t i = 0; i < forwards.size(); ++i) sample_forwards_[i] += forwards[i];
  }
  sample_tokens_ = frame.numbers("sample_generated");
}

void OffPolicy::hear(const LoggedStep& step, const std::vector<double>& verifies) {
  const auto row = static_cast<std::size_t>(step.sample);
  const Frame::Sample& sample = frame_.samples()[row];
  Arm& arm = arms_[static_cast<std::size_t>(sample.arm)];
  if (arm.trajectories.empty() || arm.trajectories.back().sample != step.sample) {
    Trajectory begun;
    begun.sample = step.sample, begun.prompt = sample.prompt;
    begun.forwards = begun.before = sample_forwards_[row];
    begun.tokens = sample_tokens_[row];
    arm.trajectories.push_back(std::move(begun));
  }
  Trajectory& trajectory = arm.trajectories.back();
  arm.unknown = arm.unknown || (step.undecided && verifies.empty());
  if (step.undecided && !verifies.empty()) {
    arm.explored = arm.explored || step.propensity < 1;
    arm.shadowed = arm.shadowed || step.verified != step.routed;
    Decision decision;
    decision.verified = step.routed, decision.propensity = step.propensity;
    decision.masked = static_cast<std::int32_t>(step.view.masked);
    decision.verifies.assign(verifies.begin(), verifies.end());
    trajectory.decisions.push_back(std::move(decision));
  }
  if (trajectory.decisions.empty()) return;
  // What the sample has besides its decisions (its prompt's forward) comes before them.
  trajectory.decisions.back().forwards += step.forwards;
  trajectory.before -= step.forwards;
}

OffPolicy::Fit OffPolicy::fitted(const Arm& arm, int half) {
  LineSums sums[2];
  for (const Trajectory& trajectory : arm.trajectories) {
    if (half_of(trajectory.prompt) == half) continue;
    double left = 0;
    for (auto decision = trajectory.decisions.rbegin(); decision != trajectory.decisions.rend();
         ++decision) {
      left += decision->forwards;
      sums[decision->verified].add(decision->masked, left);
    }
  }
  return {sums[0].solved(), sums[1].solved()};
}

OffPolicy::Weighed OffPolicy::weighed(const Trajectory& trajectory, std::size_t router,
                                      const Fit& fit) {
  Weighed sum;
  sum.inverse = sum.robust = trajectory.before;
  for (const Decision& decision : trajectory.decisions) {
    const double verifies = static_cast<double>(decision.verifies[router]);
    const double alike = decision.verified ? verifies : 1 - verifies;
    // A decision that the log takes for certain says nothing of the other one.
    sum.unsupported = sum.unsupported || (sum.weight > 0 && decision.propensity >= 1 && alike < 1);
    const auto left = [&](bool verified) {
      return fit[verified][0] + fit[verified][1] * decision.masked;
    };
    const double before = sum.weight;
    sum.weight *= alike / decision.propensity;
    sum.inverse += sum.weight * decision.forwards;
    sum.robust += sum.weight * decision.forwards +
                  before * (verifies * left(true) + (1 - verifies) * left(false)) -
                  sum.weight * left(decision.verified);
    if (sum.weight == 0) break;
  }
  return sum;
}

OffPolicyValue OffPolicy::value(std::size_t index, std::size_t router) const {
  const Arm& arm = arms_[index];
  OffPolicyValue value;
  value.arm = frame_.arms()[index].run.arm, value.router = routers_[router];
  value.texts = static_cast<std::int64_t>(arm.trajectories.size());
  const std::size_t prompts = frame_.prompts().size();
  Ratio inverse(prompts), normalised(prompts), robust(prompts), tokens(prompts);
  const Fit fits[] = {fitted(arm, 0), fitted(arm, 1)};
  double weights = 0, squares = 0;
  bool unsupported = false;
  for (const Trajectory& trajectory : arm.trajectories) {
    const Weighed one = weighed(trajectory, router, fits[half_of(trajectory.prompt)]);
    unsupported = unsupported || one.unsupported;
    weights += one.weight, squares += one.weight * one.weight;
    inverse.add(trajectory.prompt, one.inverse, 1);
    robust.add(trajectory.prompt, one.robust, 1);
    normalised.add(trajectory.prompt, one.weight * trajectory.forwards, one.weight);
    tokens.add(trajectory.prompt, one.weight * trajectory.tokens, one.weight * trajectory.forwards);
  }
  value.effective = squares > 0 ? weights * weights / squares : 0;
  if (arm.shadowed)
    value.refused = "a shadow committed something else than was routed";
  else if (!arm.explored)
    value.refused = "no decision was left to chance (router = explore does that, and logs how)";
  else if (arm.unknown)
    value.refused = "the trace does not hold the drafts of every decision (trace.drafts = all)";
  else if (unsupported)
    value.refused = "it would decide as the log never does";
  else if (value.effective < kLeastEffective)
    value.refused = "the log is worth " + fixed(value.effective, 1) + " texts of it, fewer than " +
                    fixed(kLeastEffective, 0);
  if (!value.refused.empty()) return value;
  value.inverse = inverse.estimate(), value.normalised = normalised.estimate();
  value.robust = robust.estimate(), value.tokens = tokens.estimate();
  return value;
}

std::vector<OffPolicyValue> OffPolicy::values() const {
  std::vector<OffPolicyValue> values;
  for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
    if (arms_[arm].trajectories.empty()) continue;
    for (std::size_t router = 0; router < routers_.size(); ++router)
      values.push_back(value(arm, router));
  }
  return values;
}

std::string off_policy_table(const std::vector<OffPolicyValue>& values, TableForm form) {
  TextTable table{{"arm", "router", "texts", "ESS", "forwards a text, inverse propensity",
                   "self-normalised", "doubly robust", "tokens/forward, self-normalised"},
                  {}};
  // The routers of each reason and arm.
  std::map<std::string, std::map<std::string, std::vector<std::string>>> refused;
  for (const OffPolicyValue& value : values) {
    if (!value.refused.empty()) {
      refused[value.refused][value.arm].push_back(value.router);
      continue;
    }
    table.rows.push_back({value.arm, value.router, std::to_string(value.texts),
                          fixed(value.effective, 0), bounds(value.inverse, 2),
                          bounds(value.normalised, 2), bounds(value.robust, 2),
                          bounds(value.tokens, 3)});
  }
  std::string text;
  if (!table.rows.empty())
    text +=
        "\nWhat each router would have cost, had it decided (from logged propensities; ESS: how "
        "many texts of its own the log is worth)\n" +
        table.in(form);
  for (const auto& [reason, of_arms] : refused) {
    // Arms in which the same routers have none stand together.
    std::map<std::vector<std::string>, std::vector<std::string>> alike;
    for (const auto& [arm, routers] : of_arms) {
      std::vector<std::string>& arms = alike[routers];
      if (!arm.empty()) arms.push_back("'" + arm + "'");
    }
    std::string list;
    for (const auto& [routers, arms] : alike) {
      list += (list.empty() ? "" : "; ") + joined(routers);
      if (!arms.empty()) list += (arms.size() > 1 ? " in arms " : " in arm ") + joined(arms);
    }
    text += "\nNo estimate of what a router would have cost, for " + list + ": " + reason + ".\n";
  }
  return text;
}

}  // namespace draftlab
