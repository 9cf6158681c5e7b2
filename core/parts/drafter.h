// The seam of drafters: a drafter proposes tokens for the window.
#pragma once

#include <vector>

#include "core/parts/asking.h"
#include "core/parts/part.h"
#include "core/parts/step.h"

namespace draftlab {

class Drafter : public Part {
 public:
  // Whether decode.draft_length means anything to it: where it does not, arms that differ in it
  // alone are one arm.
  virtual bool reads_draft_length() const { return true; }
  // Questions it asks the draft model (`model.draft`, index 1); a config that names none is refused
  // where there are any.
  virtual std::vector<Form> asks_draft_model() const { return {}; }
  virtual Asking<Proposal> propose(const Step& step) const = 0;
};

}  // namespace draftlab
