// The seam of drafters: a drafter proposes tokens for the window.
#pragma once

#include <vector>

#include "core/parts/asking.h"
#include "core/parts/part.h"
#include "core/parts/step.h"

namespace draftlab {

class Drafter : public Part {
 public:
  // Whether decode.draft_length changes what this drafter does. Where it does not,
  // decode.draft_rule does not either, and arms that differ in these alone are one arm.
  virtual bool reads_draft_length() const { return true; }
  // Whether each step drafts one draw of the target and nothing else: the sequential decoding that
  // reports compare others with.
  virtual bool is_sequential() const { return false; }
  // The forms of the questions that this drafter asks the draft model (`model.draft`, index 1). A
  // config that names no draft model is refused where there are any.
  virtual std::vector<Form> asks_draft_model() const { return {}; }
  virtual Asking<Proposal> propose(const Step& step) const = 0;
};

}  // namespace draftlab
