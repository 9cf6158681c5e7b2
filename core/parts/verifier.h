// The seam of verifiers: a verifier asks the target about a proposal and judges it.
#pragma once

#include "core/parts/acceptance.h"
#include "core/parts/asking.h"
#include "core/parts/step.h"

namespace draftlab {

class Verifier : public Part {
 public:
  // Whether this verifier judges by a rule of its own, which is not that of a single trial. The
  // acceptance rule of such an arm must be the exact ratio test.
  virtual bool has_own_rule() const { return false; }
  // Whether Judged::accept is of a draft and all before it, and not of a draft given those.
  virtual bool judges_paths() const { return false; }
  // Judges the drafts.
  // Before: the proposal has at least one draft and keeps drafter.h; its edits are on the canvas.
  // After: the verdict commits masked positions of the canvas, each once, in the order of
  //   commitment, with tokens of the vocabulary. `judged` has at most an entry a draft, aligned
  //   with the proposal; probabilities are in [0, 1], and NaN where nothing was judged. What
  //   `exact` makes known is not asked. In a step that is committed there is at least one commit,
  //   unless nothing replaces a rejected draft.
  // The coroutine may ask (step.ask) until it yields, at most decode.questions times. It may be
  // called for a step that only observes (decode.shadow), whose verdict is then not committed.
  virtual Asking<Verdict> judge(const Step& step, const Proposal& proposal,
                                const Acceptance& acceptance) const = 0;
};

}  // namespace draftlab
