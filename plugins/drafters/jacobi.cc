// Jacobi iteration (Santilli et al., 2023): the window is guessed, predicted again in parallel from
// the guesses, and so on until nothing changes; what has become right is committed at once. Guesses
// are point masses: the prediction is the verification, and its answers beyond a rejection are the
// next guesses.
#include <algorithm>

#include "core/config/plugin.h"
#include "core/parts/drafter.h"

namespace draftlab {
namespace {

class Jacobi final : public Drafter {
 public:
  Asking<Proposal> propose(const Step& step) const override {
    const auto& window = step.window.positions;
    const auto count = step.most_drafts();
    // A first guess repeats the token before the window.
    Token guess =
        window.front() > 0 ? std::max<Token>(0, step.canvas.token(window.front() - 1)) : 0;
    Proposal proposal;
    proposal.lookahead = 1;
    for (std::size_t i = 0; i < count; ++i) {
      const int depth = static_cast<int>(i);
      // The verification asked for this position at the guess before it.
      const Distribution* const again =
          step.carry ? step.carry->answer.find(
                           step.carry->node + step.carry->unseen_commits + depth, window[i])
                     : nullptr;
      if (again) guess = again->argmax();
      proposal.nodes.push_back({depth - 1, window[i], guess});
    }
    co_return proposal;
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(drafter, jacobi) {
  registries.drafters.add<draftlab::Jacobi>(
      "jacobi",
      "the last verification's own predictions are the next guesses (Jacobi iteration); lossless");
}
