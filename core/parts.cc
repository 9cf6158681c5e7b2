#include "core/parts.h"

#include "core/metrics.h"

namespace draftlab {

double TokenEstimator::expected(const StepView& step) const {
  const Eigen::ArrayXd accept = alpha(step);
  return expected_accepted({accept.data(), static_cast<std::size_t>(accept.size())});
}

Verdict Unmasker::top_up(const Step& step, const Proposal& proposal, Verdict verdict) const {
  if (!verdict.commits.empty() || !verdict.edits.empty()) return verdict;
  Verdict chosen = choose(step, proposal);
  for (Commit& commit : chosen.commits) commit.source = Source::fallback;
  verdict.commits = std::move(chosen.commits);
  return verdict;
}

}  // namespace draftlab
