// The target draws every token itself, and drafts are kept as long as they are what it drew (exact
// coupling by shared noise; Daliri et al., 2024). So the text is that of the target alone whatever
// was drafted, and where decode.noise shares the numbers of a position it is that text token for
// token at equal seeds. A drafter that reads the same numbers is accepted nearly as often as by the
// ratio test: with Gumbel noise at least (1 - TV) / (1 + TV) of the time.
#include "core/config/plugin.h"
#include "plugins/verifiers/paths.h"

namespace draftlab {
namespace {

class OwnDraw final : public Verifier {
 public:
  using Options = BonusOption;
  explicit OwnDraw(const Options& options) : options_(options) {}
  std::vector<Form> asks() const override { return {Form::chain}; }
  bool has_own_rule() const override { return true; }

  Asking<Verdict> judge(const Step& step, const Proposal& proposal,
                        const Acceptance&) const override {
    Paths paths(step, proposal, options_.bonus);
    co_await paths.ask();
    Verdict verdict{.commits = {}, .edits = {}, .carry = {}, .judged = paths.unjudged()};
    int at = paths.accept_exact(verdict);
    bool unseen = false;
    while (!unseen && paths.tests() && paths.room(at) &&
           (options_.bonus || !paths.below(at).empty()))
      unseen = !follow(paths, at, verdict);
    if (!unseen) verdict.why = paths.room(at) ? Stop::complete : step.window.boundary;
    while (!verdict.judged.empty() && !verdict.judged.back().reached) verdict.judged.pop_back();
    paths.carry(at, unseen, verdict);
    co_return verdict;
  }

 private:
  // Draws the token behind `at` and goes to the draft that holds it. Returns whether there is one;
  // otherwise the draw is committed, and ends the step.
  static bool follow(const Paths& paths, int& at, Verdict& verdict) {
    const Step& step = paths.step;
    const std::vector<int>& drafts = paths.below(at);
    const std::int32_t position = paths.position(at);
    const Distribution law = step.drawn(paths.raw(at));
    const Token drawn = step.draw(law, position, paths.next(at), Purpose::choice);
    int found = kRoot;
    for (const int draft : drafts) {
      const Token token = paths.proposal.nodes[draft].token;
      // How often drafts are drawn alike depends on the noise that they share.
      const bool told = step.decode.noise == Noise::own || paths.claimed(draft) == 1;
      verdict.judged[draft] = {.target = law.probability(token),
                               .drawn = paths.claimed(draft),
                               .accept = told ? law.probability(token) : kNotMeasured,
                               .accepted = token == drawn && found == kRoot,
                               .law = law};
      if (verdict.judged[draft].accepted) found = draft;
    }
    if (found == kRoot) {
      verdict.commits.push_back(
          {position, drawn, drafts.empty() ? Source::bonus : Source::resampled});
      verdict.why = drafts.empty() ? Stop::complete : Stop::wrong_token;
      return false;
    }
    paths.accept(found, verdict);
    at = found;
    return true;
  }

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(verifier, own_draw) {
  registries.verifiers.add<draftlab::OwnDraw>(
      "own-draw",
      "the target draws each token itself, and drafts that equal it are kept; with shared noise "
      "the texts are those of stepwise decoding");
}
