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

// The rule by which a drafted vector is judged; the last two are not lossless.
enum class DensityMode { k_split, reflection, closed_form, paper, authors_code };
constexpr std::array<std::string_view, 5> words(DensityMode) {
  return {"k-split", "reflection", "closed-form", "paper", "authors-code"};
}
// What a draft is judged given: the drafts before it, or the committed state alone.
enum class DensityContext { sequential, parallel };
constexpr std::array<std::string_view, 2> words(DensityContext) {
  return {"sequential", "parallel"};
}
// What is taken where no proposal of the residual was accepted.
enum class Unresolved { target, zeros };
constexpr std::array<std::string_view, 2> words(Unresolved) { return {"target", "zeros"}; }

struct DensityOptions {
  DensityMode mode = DensityMode::k_split;
  DensityContext context = DensityContext::sequential;
  Unresolved unresolved = Unresolved::target;
  std::int64_t k = 0, cap = 1000;
  double inflation = 42;
  bool aligned = true, bonus = false;
  void declare(OptionSet& set);
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
  // `draft` is how the token was drawn, and `condition` is the target's at its position. References
  // outlive the trial. Throws ConfigError where the mode cannot judge such a head.
  VectorTrial(const Step& step, const DensityOptions& options, const Acceptance& acceptance,
              std::int32_t position, const Trajectory& draft, Eigen::VectorXd condition);

  // Returns what is known before anything is drawn. measure() must have been called.
  Judged judged(bool reached) const;
  // Accepts the draft or finds what replaces it, and completes `judged`.
  Asking<Vector> decide(Judged& judged) const;

 private:
  friend Asking<bool> measure(const Step& step, const DensityOptions& options,
                              std::vector<VectorTrial>& trials);
  bool published() const {
    return options_.mode == DensityMode::paper || options_.mode == DensityMode::authors_code;
  }
  Normals target_noise() const;
  // The factor that the published rules multiply the ratio with, in nats; 0 for the other rules.
  double log_sigma() const;
  Asking<Vector> replace(Judged& judged) const;
  // Draws from the target, given what is shared.
  Asking<Vector> plain(std::uint32_t draw) const;
  Asking<Vector> couple(Judged& judged) const;
  Eigen::VectorXd residual(int t, const Mixture& p, const Mixture& q, Judged& judged) const;

  const Step& step_;
  const DensityOptions& options_;
  const Acceptance& acceptance_;
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
Asking<bool> measure(const Step& step, const DensityOptions& options,
                     std::vector<VectorTrial>& trials);

}  // namespace draftlab
