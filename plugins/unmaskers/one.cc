// Commits a single draft: the first of the window, or the most confident one (stepwise decoding of
// a masked-diffusion model).
#include <array>
#include <string_view>

#include "core/config/plugin.h"
#include "core/parts/unmasker.h"

namespace draftlab {
namespace {

// Which draft is committed.
enum class Which { first, confident };
constexpr std::array<std::string_view, 2> words(Which) { return {"first", "confident"}; }

class One final : public Unmasker {
 public:
  struct Options {
    Which which = Which::first;
    void declare(OptionSet& set) {
      set.add("which", &which)
          .help(
              "The window's first draft, or the most probable one under the model (the leftmost "
              "among equals).");
    }
  };
  explicit One(const Options& options) : confident_(options.which == Which::confident) {}
  std::vector<DecodeKey> reads() const override { return {}; }

  Verdict choose(const Step& step, const Proposal& proposal) const override {
    // The best draft in the window; the first draft of every drafter is the first of the window.
    std::size_t best = 0;
    for (std::size_t i = 1; confident_ && i < proposal.nodes.size(); ++i) {
      if (!step.window.holds(proposal.nodes[i].position)) continue;
      const double gain = confidence(proposal, i) - confidence(proposal, best);
      if (gain > 0 || (gain == 0 && proposal.nodes[i].position < proposal.nodes[best].position))
        best = i;
    }
    return {.commits = {commit_of(proposal.nodes[best], Source::threshold)},
            .edits = {},
            .why = Stop::unverified,
            .carry = {},
            .judged = {}};
  }
  int preview(const Step&, const Proposal&) const override { return 0; }

 private:
  static double confidence(const Proposal& proposal, std::size_t i) {
    const std::vector<Distribution>& read =
        proposal.raw.empty() ? proposal.drawn_from : proposal.raw;
    return read.empty() || read[i].empty() ? 1 : read[i].probability(proposal.nodes[i].token);
  }

  bool confident_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(unmasker, one) {
  registries.unmaskers.add<draftlab::One>("one",
                                          "commit one draft: the first, or the most confident");
}
