// The seam of unmaskers: an unmasker says what is committed without verification.
#pragma once

#include "core/parts/part.h"
#include "core/parts/step.h"

namespace draftlab {

class Unmasker : public Part {
 public:
  // What most unmaskers read; one that does not says so.
  std::vector<DecodeKey> reads() const override { return {DecodeKey::threshold, DecodeKey::steps}; }
  // Whether `choose` may take tokens back (Verdict::taken_back). What such an arm commits is
  // tentative until the frontier settles it, and drafters ask about tentative positions, too
  // (Proposal::root_answer). A step takes back fewer tokens than it commits, at the latest when as
  // many steps were made as the canvas has positions, or decode.steps in each block. So decoding
  // ends.
  virtual bool takes_back() const { return false; }
  // Whether `choose` may say what masked positions show in the next step (Verdict::shown). It takes
  // a model that reads a random canvas. Such an unmasker may commit nothing for as many steps as
  // the canvas has positions, or decode.steps in each block, and no longer.
  virtual bool shows() const { return false; }
  // Chooses what is committed without verification.
  // Before: the proposal has at least one draft. `step.canvas` may be a hypothetical state, and is
  //   then no canvas that this part has observed.
  // After: the verdict commits masked positions of the window, each once, with drafted tokens: at
  //   least one, unless this step of a schedule owes none (then observe() must change the
  //   unmasker's state, or the unmasker `shows`).
  virtual Verdict choose(const Step& step, const Proposal& proposal) const = 0;
  // N_hi: how many drafts, from 0 to all, are so confident that `choose` would commit them. What
  // its quota alone makes it commit does not count. It is asked in every step with drafts.
  virtual int preview(const Step& step, const Proposal& proposal) const = 0;
  // Completes a verdict that fell short of a quota, or is empty. It is given every verdict of a
  // step with drafts, that of `choose` included, which it returns as it is. What was committed
  // stays, in its order.
  virtual Verdict top_up(const Step& step, const Proposal& proposal, Verdict verdict) const;
};

}  // namespace draftlab
