// A check that is cheaper than a tree and not lossless: all drafts are put in place in one row, and
// those before the first that the model would write otherwise are kept. Every position sees its own
// draft and all the others, those after it included, so it judges another state than stepwise
// decoding does. This is the baseline that SSD is mistaken for.
#include <algorithm>

#include "core/config/plugin.h"
#include "core/parts/verifier.h"
#include "plugins/verifiers/branches.h"

namespace draftlab {
namespace {

class InPlace final : public Verifier {
 public:
  std::vector<Form> asks() const override { return {Form::branches}; }

  Asking<Verdict> judge(const Step& step, const Proposal& proposal,
                        const Acceptance&) const override {
    const std::size_t drafts = static_cast<std::size_t>(
        std::min(path_length(proposal), std::max(step.target.horizon(), proposal.exact)));
    Question question{.kind = Kind::verify, .view = View::bidirectional, .nodes = {}, .asks = {}};
    for (std::size_t i = 0; i < drafts; ++i)
      question.nodes.push_back(
          {static_cast<int>(i) - 1, proposal.nodes[i].position, proposal.nodes[i].token});
    const int last = static_cast<int>(question.nodes.size()) - 1;
    question.asks.push_back({last, {}});
    for (std::size_t i = static_cast<std::size_t>(proposal.exact); i < drafts; ++i)
      question.asks.front().positions.push_back(proposal.nodes[i].position);
    Answer answer;
    if (!question.asks.front().positions.empty()) answer = co_await step.ask(std::move(question));

    Verdict verdict{.commits = {}, .edits = {}, .why = Stop::complete, .carry = {}, .judged = {}};
    for (std::size_t i = 0; i < drafts; ++i) {
      const Node& node = proposal.nodes[i];
      bool right = static_cast<int>(i) < proposal.exact;
      double p = kNotMeasured;
      if (!right) {
        const Distribution target = step.drawn(answer.at(last, node.position));
        p = target.probability(node.token);
        right = step.chance.draw(target, step.site(node.position, Purpose::accept)) == node.token;
      }
      verdict.judged.push_back(
          {p, proposal.drawn_from.empty() ? 1.0 : proposal.drawn_from[i].probability(node.token), p,
           right});
      if (!right) verdict.why = Stop::wrong_token;
      // At least one node is committed.
      if (right || i == 0)
        verdict.commits.push_back(commit_of(node, right ? Source::accepted : Source::fallback));
      if (!right) break;
    }
    co_return verdict;
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(verifier, in_place) {
  registries.verifiers.add<draftlab::InPlace>(
      "in-place",
      "all drafts in one row, kept until the model would write another token (not lossless)");
}
