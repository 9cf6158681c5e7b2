// WINO (Hong et al., 2025): commit widely, and take back what the model no longer likes. Drafts
// above decode.threshold (published: .6) are committed, at most a share of the masks; then tokens
// of earlier steps whose probability is now below `keep` are masked again, the least probable first
// and always fewer than were committed. The published program asks for each probability without
// sight of the token itself, from a second copy of the block; here it is what the model says at the
// position while the token stands there, which costs no rows and is a weaker witness.
#include <algorithm>

#include "core/config/plugin.h"
#include "plugins/unmaskers/quota.h"

namespace draftlab {
namespace {

class Wino final : public QuotaUnmasker {
 public:
  struct Options {
    double keep = 0.9, share = 0.7;
    std::int64_t at_least = 5, at_most = 20;
    void declare(OptionSet& set) {
      set.add("keep", &keep).in(0, 1).help("Tokens less probable than this are taken back.");
      set.add("share", &share)
          .in(0, 1)
          .help("Largest share of the masks that a step commits, between at_least and at_most.");
      set.add("at_least", &at_least)
          .in(1, 4096)
          .help("Lower bound of the limit on a step's commits; it beats at_most.");
      set.add("at_most", &at_most)
          .in(1, 4096)
          .help("Upper bound of the limit on a step's commits.");
    }
  };
  explicit Wino(const Options& options) : options_(options) {}
  bool takes_back() const override { return true; }

 private:
  int sure(const Step& step, std::vector<Draft>& drafts) const override {
    const auto share =
        static_cast<std::int64_t>(options_.share * static_cast<double>(drafts.size()));
    const auto most = std::max(options_.at_least, std::min(options_.at_most, share));
    const auto confident = std::count_if(drafts.begin(), drafts.end(), [&](const Draft& draft) {
      return draft.confidence > step.decode.threshold;
    });
    return static_cast<int>(std::min<std::int64_t>(confident, most));
  }

  std::vector<Commit> taken_back(const Step& step, const Proposal& proposal,
                                 const std::vector<Commit>& commits) const override {
    const auto now = [&](const Commit& token) {
      const Distribution* const said = proposal.root_answer.find(kRoot, token.position);
      return said ? said->probability(token.token) : 1;
    };
    std::vector<Commit> tokens = tentative(step);
    std::erase_if(tokens, [&](const Commit& token) { return now(token) >= options_.keep; });
    std::stable_sort(tokens.begin(), tokens.end(),
                     [&](const Commit& a, const Commit& b) { return now(a) < now(b); });
    if (tokens.size() >= commits.size()) tokens.resize(commits.empty() ? 0 : commits.size() - 1);
    return tokens;
  }

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(unmasker, wino) {
  registries.unmaskers.add<draftlab::Wino>(
      "wino",
      "drafts above decode.threshold, and earlier tokens that the model no longer likes are taken "
      "back (WINO)");
}
