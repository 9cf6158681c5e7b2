// The options of every recurrent model: how its memory goes back over rejected drafts.
#pragma once

#include "core/config/options.h"
#include "core/model/recurrent.h"

namespace draftlab {

inline void add_rollback(OptionSet& set, RollbackRules* rules) {
  set.add("rollback", &rules->rollback)
      .help(
          "How rejected drafts are taken back: by the state after each draft, or by that of the "
          "last commit, from which accepted drafts run again; none: the whole text runs again.");
  set.add("rerun", &rules->rerun)
      .help("With replay, accepted drafts run again along with the next question or on their own.");
}

}  // namespace draftlab
