// Judges one drafted vector: what the target's head says of it, whether it stays, and what replaces
// it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/config/options.h"
#include "core/parts/acceptance.h"
#include "core/parts/vector_draw.h"
#include "core/parts/verdict.h"

namespace draftlab {

// The rule by which a drafted vector is judged.
enum class DensityMode { k_split, reflection, closed_form };
constexpr std::array<std::string_view, 3> words(DensityMode) {
  return {"k-split", "reflection", "closed-form"};
}
// What a draft is judged given: the drafts before it, or the committed state alone.
enum class DensityContext { sequential, parallel };
constexpr std::array<std::string_view, 2> words(DensityContext) {
  return {"sequential", "parallel"};
}

struct DensityOptions {
  DensityMode mode = DensityMode::k_split;
  DensityContext context = DensityContext::sequential;
  std::int64_t k = 0, cap = 1000;
  bool aligned = true, bonus = false;
  void declare(OptionSet& set);
  // Declares all options but those that choose the rule, which a control has of its own.
  void declare_common(OptionSet& set);
};

// How a control departs from these rules: it judges the last reverse step alone, by a ratio that is
// multiplied by a factor (plugins/controls/density_published.cc).
class OtherRatio {
 public:
  virtual ~OtherRatio() = default;
  // The factor in nats, of Sigma = prod_{t>=2} sigma_q / sigma_p.
  virtual double log_factor(double log_sigma) const = 0;
  // The probability with which a draft y is accepted, of the two laws of its last step.
  virtual double accepts(const Acceptance& acceptance, double log_factor,
                         std::array<const Mixture*, 2> laws, const Eigen::VectorXd& y) const = 0;
  // Whether zeros are committed where no proposal of the residual was accepted.
  virtual bool leaves_zeros() const = 0;
};

// What all drafts of a step are judged by. `other` is null for the rules of DensityMode.
struct DensityRule {
  const DensityOptions& options;
  const Acceptance& acceptance;
  const OtherRatio* other = nullptr;
};

// A drafted vector, and the target's condition at its position.
struct VectorDraft {
  std::int32_t position = 0;
  const Trajectory& trajectory;
  Eigen::VectorXd condition;
};

// A token that is committed, and its states y_K, ..., y_1 under the target.
struct Vector {
  Eigen::VectorXd value;
  std::vector<Eigen::VectorXd> path;
};

// Returns all states of a token but the token itself.
std::vector<Eigen::VectorXd> path_of(const Trajectory& token);

class VectorTrial {
 public:
  // References outlive the trial. Throws ConfigError where the rule cannot judge such a head.
  VectorTrial(const Step& step, const DensityRule& rule, VectorDraft draft);

  // Returns what is known before anything is drawn. measure() must have been called.
  Judged judged(bool reached) const;
  // Accepts the draft or finds what replaces it, and completes `judged`.
  Asking<Vector> decide(Judged& judged) const;

 private:
  friend Asking<bool> measure(const Step& step, std::vector<VectorTrial>& trials);
  bool reflects() const { return !rule_.other && rule_.options.mode == DensityMode::reflection; }
  // Throws ConfigError where the rule cannot judge such a head.
  void check(const Trajectory& draft) const;
  Normals target_noise() const;
  // The factor that the ratio is multiplied with, in nats.
  double log_factor() const;
  // Computes the acceptance from the target's laws of the steps that are judged.
  void weigh();
  Asking<Vector> replace(Judged& judged) const;
  // Draws from the target, given what is shared.
  Asking<Vector> plain(std::uint32_t draw) const;
  Asking<Vector> couple(Judged& judged) const;
  Eigen::VectorXd residual(int t, const Mixture& p, const Mixture& q, Judged& judged) const;

  const Step& step_;
  const DensityRule rule_;
  std::int32_t position_;
  const Trajectory& draft_;
  // The number of reverse steps that are judged.
  int k_;
  // The target's own trajectory, down to x_k on noise shared with the draft.
  Trajectory own_;
  // The target's laws of steps k, ..., 1: at x_k, then at the draft's states.
  std::vector<Mixture> tail_;
  double log_target_ = 0, log_drawn_ = 0, accept_ = 0;
};

// Follows the target's head along all trials at once: with one reverse question for each step above
// k, and one for the other steps together.
Asking<bool> measure(const Step& step, std::vector<VectorTrial>& trials);

}  // namespace draftlab
