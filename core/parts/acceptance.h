// The seam of acceptance rules: a rule says how probably a drafted token is kept, and what replaces
// one that is not.
#pragma once

#include "core/parts/part.h"
#include "core/prob/distribution.h"

namespace draftlab {

// A drafted token that is judged. References live as long as the call.
struct Trial {
  Token token = kNoToken;
  // The target's distribution as drawn. Where siblings were rejected before, it is what they left
  // of it.
  const Distribution& target;
  // The distribution that the token was drawn from; nullptr stands for a point mass at `token`.
  const Distribution* drawn_from = nullptr;
  // The depth of the token in the step; 0 for the first draft.
  int depth = 0;
  // The model's own answer, at temperature 1.
  const Distribution& raw = target;
};

class Acceptance : public Part {
 public:
  // The probability in [0, 1] with which the token is kept. Before: `trial.token` has a positive
  // probability under what it was drawn from. It is asked once for each draft that is judged, and
  // for drafts that only observe.
  virtual double probability(const Trial& trial) const = 0;
  // The distribution of what replaces a rejected token: one over the vocabulary of the trial's
  // target. An empty result means that nothing replaces it. It is asked only after a rejection,
  // hence only where probability() was below 1.
  virtual Distribution replacement(const Trial& trial) const = 0;
  // Whether the rule, with the options it has, is the ratio test as it stands, whose results have
  // the law of the target. A certificate checks the claim.
  virtual bool exact() const { return false; }
  // The same for vector tokens: the probability follows from the log densities under the target and
  // under the law that the token was drawn from. A rule that judges no densities is refused where
  // tokens are vectors. What replaces a rejected token is found among draws of the target:
  // `replaces` is the probability with which a draw is taken. Both arguments are finite, both
  // results in [0, 1]; neither is called for a rule that judges no densities.
  virtual bool judges_densities() const { return false; }
  virtual double probability(double log_target, double log_drawn) const;
  virtual double replaces(double log_target, double log_drawn) const;
};

}  // namespace draftlab
