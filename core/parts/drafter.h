// The seam of drafters: a drafter proposes tokens for the window.
#pragma once

#include <vector>

#include "core/parts/asking.h"
#include "core/parts/part.h"
#include "core/parts/step.h"

namespace draftlab {

class Drafter : public Part {
 public:
  // One that does not read decode.draft_length is left alone by decode.draft_rule, too, and arms
  // that differ in these alone are one arm.
  std::vector<DecodeKey> reads() const override { return {DecodeKey::draft_length}; }
  // Whether each draft is a draw of the target, from a forward of its own: the sequential decoding
  // that reports compare others with. It may depend on whether the config names a draft model.
  virtual bool is_sequential(bool /*has_draft_model*/) const { return false; }
  // The forms of the questions that this drafter asks the draft model (`model.draft`, index 1). A
  // config that names no draft model is refused where there are any.
  virtual std::vector<Form> asks_draft_model() const { return {}; }
  // Proposes drafts.
  // Before: the canvas is as the last step left it; `step.window` names masked positions, and none
  //   in a step that can only edit. `step.carry` is what an earlier answer left, if anything.
  // After: parents precede their children; no position is drafted twice on one path; tokens are of
  //   the vocabulary; `drawn_from` holds the law that each token was really drawn from, or nothing
  //   at all where all drafts are point masses. The first `exact` drafts are the target's own
  //   draws, for which the target was asked or the carry read. Drafts may stand beyond the window,
  //   and there may be none.
  // The coroutine may ask (step.ask) until it yields, at most decode.questions times. It owns the
  // proposal until it yields it.
  virtual Asking<Proposal> propose(const Step& step) const = 0;
};

}  // namespace draftlab
