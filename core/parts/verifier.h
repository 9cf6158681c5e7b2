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
  virtual Asking<Verdict> judge(const Step& step, const Proposal& proposal,
                                const Acceptance& acceptance) const = 0;
};

}  // namespace draftlab
