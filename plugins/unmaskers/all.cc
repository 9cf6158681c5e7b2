// Commits every draft: this is parallel sampling under an independence assumption (ASSD, Eq. 5). It
// is not lossless beyond one draft.
#include "core/config/plugin.h"
#include "core/parts/unmasker.h"

namespace draftlab {
namespace {

class All final : public Unmasker {
 public:
  std::vector<DecodeKey> reads() const override { return {}; }
  Verdict choose(const Step& step, const Proposal& proposal) const override {
    Verdict verdict{.commits = {}, .edits = {}, .why = Stop::unverified, .carry = {}, .judged = {}};
    for (const Node& node : proposal.nodes) {
      if (step.window.holds(node.position))
        verdict.commits.push_back(commit_of(node, Source::threshold));
    }
    return verdict;
  }
  int preview(const Step& step, const Proposal& proposal) const override {
    return static_cast<int>(choose(step, proposal).commits.size());
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(unmasker, all) {
  registries.unmaskers.add<draftlab::All>(
      "all", "commit every draft: independent parallel sampling (ASSD, Eq. 5)");
}
