// What the acceptance rules of blockwise parallel decoding share. They compare a draft with the
// target's most probable token, draw no random number, and replace a rejected draft by the target's
// draw, which at temperature 0 is that token.
#pragma once

#include "core/config/options.h"
#include "core/parts/acceptance.h"

namespace draftlab {

struct GreedyOptions {
  bool replace = true;
  void declare(OptionSet& set) {
    set.add("replace", &replace)
        .help(
            "Commit the target's draw in place of a rejected draft; false: only in place of a "
            "step's first draft. Other rejections then wait for the next step, whose first draft "
            "comes from head 1 (drafter heads).");
  }
};

class GreedyAcceptance : public Acceptance {
 public:
  double probability(const Trial& trial) const final { return accepts(trial) ? 1 : 0; }
  Distribution replacement(const Trial& trial) const final {
    return replace_ || trial.depth == 0 ? trial.target : Distribution();
  }

 protected:
  explicit GreedyAcceptance(const GreedyOptions& options) : replace_(options.replace) {}

 private:
  virtual bool accepts(const Trial& trial) const = 0;
  bool replace_;
};

}  // namespace draftlab
