// The seam of unmaskers: an unmasker says what is committed without verification.
#pragma once

#include "core/parts/part.h"
#include "core/parts/step.h"

namespace draftlab {

class Unmasker : public Part {
 public:
  // Chooses what is committed without verification: at least one token, unless this step of a
  // schedule has none (then observe() must change the unmasker's state). `step.canvas` may be a
  // hypothetical state.
  virtual Verdict choose(const Step& step, const Proposal& proposal) const = 0;
  // N_hi: how many drafts are so confident that `choose` would commit them. What its quota alone
  // makes it commit does not count.
  virtual int preview(const Step& step, const Proposal& proposal) const = 0;
  // Completes a verdict that fell short of a quota, or is empty.
  virtual Verdict top_up(const Step& step, const Proposal& proposal, Verdict verdict) const;
};

}  // namespace draftlab
