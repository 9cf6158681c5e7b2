// The seam of acceptance rules: a rule says how probably a drafted token is kept, and what replaces
// one that is not.
#pragma once

#include "core/parts/part.h"
#include "core/prob/distribution.h"

namespace draftlab {

// A drafted token under judgement.
struct Trial {
  Token token = kNoToken;
  const Distribution&
      target;  // as drawn; where siblings were rejected before it, what they left of it
  const Distribution* drawn_from = nullptr;  // nullptr: a point mass at `token`
  int depth = 0;                             // 0 for the first draft of the step
  const Distribution& raw = target;          // the model's own answer, at temperature 1
};

class Acceptance : public Part {
 public:
  virtual double probability(const Trial& trial) const = 0;
  // What replaces a rejected token; empty: nothing does.
  virtual Distribution replacement(const Trial& trial) const = 0;
  // The same for vector tokens, from log densities under the target and of what was drawn from; a
  // rule that judges none is refused where tokens are vectors. What replaces a rejected token is
  // found among draws of the target: `replaces` is the probability with which one is taken.
  virtual bool judges_densities() const { return false; }
  virtual double probability(double log_target, double log_drawn) const;
  virtual double replaces(double log_target, double log_drawn) const;
};

}  // namespace draftlab
