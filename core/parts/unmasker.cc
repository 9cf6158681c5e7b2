#include "core/parts/unmasker.h"

namespace draftlab {

Verdict Unmasker::top_up(const Step& step, const Proposal& proposal, Verdict verdict) const {
  if (!verdict.commits.empty() || !verdict.edits.empty()) return verdict;
  Verdict chosen = choose(step, proposal);
  for (Commit& commit : chosen.commits) commit.source = Source::fallback;
  verdict.commits = std::move(chosen.commits);
  return verdict;
}

}  // namespace draftlab
