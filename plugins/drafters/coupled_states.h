// Couples the drafted reverse steps of a vector token, one by one, with the target's laws of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/base/error.h"
#include "core/parts/vector_draw.h"

namespace draftlab {

// The coupling of one token; each decision and each draw has an address of its own.
class CoupledStates {
 public:
  CoupledStates(const Step& step, std::int32_t position) : step_(step), position_(position) {}
  virtual ~CoupledStates() = default;

  // Adds to the token the next state, whose law is `p`: the draft, which was drawn from `q`, or
  // what replaces it. Returns whether the draft was kept.
  bool take(Trajectory& token, const Mixture& p, const Mixture& q, const Eigen::VectorXd& draft) {
    const bool together =
        below(std::min(1.0, std::exp(p.log_density(draft) - q.log_density(draft))));
    token.states.push_back(together ? draft : replacement(p, q, draft));
    token.laws.push_back(p);
    token.noise.push_back({});
    return together;
  }

 protected:
  // What the target has beyond the draft: the draft's mirror image where the deviations are the
  // same, else the first of the target's draws that the draft would not have made.
  virtual Eigen::VectorXd replacement(const Mixture& p, const Mixture& q,
                                      const Eigen::VectorXd& draft) {
    if (p.gaussian() && q.gaussian() && (p.sigma[0] == q.sigma[0]).all()) {
      const Eigen::VectorXd apart = ((q.mean[0] - p.mean[0]) / p.sigma[0]).matrix().normalized();
      const Eigen::VectorXd noise = ((draft.array() - q.mean[0]) / q.sigma[0]).matrix();
      return p.mean[0] + p.sigma[0] * (noise - 2 * apart.dot(noise) * apart).array();
    }
    for (;;) {
      const Eigen::VectorXd y = draw(p);
      if (below(1 - std::min(1.0, std::exp(q.log_density(y) - p.log_density(y))))) return y;
    }
  }
  // Draws from the target's law.
  Eigen::VectorXd draw(const Mixture& p) {
    const auto each = static_cast<std::uint32_t>(p.noises());
    if (drawn_ > std::numeric_limits<std::uint32_t>::max() - each)
      throw Fault("a reverse step was drawn too often in vain");
    const Site site = step_.site(position_, Purpose::residual, drawn_);
    drawn_ += each;
    return p.at(normals(step_.chance, site, static_cast<int>(each)));
  }

 private:
  bool below(double probability) {
    return step_.chance.below(probability, step_.site(position_, Purpose::accept, decided_++));
  }

  const Step& step_;
  const std::int32_t position_;
  std::uint32_t decided_ = 0, drawn_ = 0;
};

}  // namespace draftlab
