// An unmasker: it says what is committed without a verification. This one commits the drafts that
// the drafter is sure of, from the first on, and the first one in any case.
#include <algorithm>

#include "core/config/plugin.h"

namespace {

class SureFirst final : public draftlab::Unmasker {
 public:
  struct Options {
    double least = 0.8;
    void declare(draftlab::OptionSet& set) {
      set.add("least", &least).in(0, 1).help("Probability from which on a draft is sure.");
    }
  };
  explicit SureFirst(const Options& options) : options_(options) {}

  draftlab::Verdict choose(const draftlab::Step& step,
                           const draftlab::Proposal& proposal) const override {
    draftlab::Verdict verdict;
    verdict.why = draftlab::Stop::unverified;
    const int count = std::max(1, sure(step, proposal));
    for (int i = 0; i < count; ++i)
      verdict.commits.push_back(commit_of(proposal.nodes[i], draftlab::Source::threshold));
    return verdict;
  }

  // How many drafts `choose` would commit because it is sure of them.
  int preview(const draftlab::Step& step, const draftlab::Proposal& proposal) const override {
    return sure(step, proposal);
  }

 private:
  // The leading drafts of one path, in the window, that are sure.
  int sure(const draftlab::Step& step, const draftlab::Proposal& proposal) const {
    int count = 0;
    for (const draftlab::Node& node : proposal.nodes) {
      const bool follows = node.parent == count - 1 && step.window.holds(node.position);
      const bool known = count < static_cast<int>(proposal.raw.size());
      if (!follows || !known || proposal.raw[count].probability(node.token) < options_.least) break;
      ++count;
    }
    return count;
  }

  Options options_;
};

}  // namespace

DRAFTLAB_SHARED_PLUGIN() {
  registries.unmaskers.add<SureFirst>("sure-first", "the leading drafts of at least `least`");
}
