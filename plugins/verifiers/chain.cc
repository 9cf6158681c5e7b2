// Judges a drafted path in one pass: the density of each draft given those before it (ASSD, Algorithm 1, lines 10-24). The
// first rejection is replaced and ends the step.
#include <algorithm>

#include "core/parts.h"
#include "plugins/builtin.h"

namespace draftlab {
namespace {

class Chain final : public Verifier {
 public:
  struct Options {
    bool bonus = false;
    void declare(OptionSet& set) {
      set.add("bonus", &bonus).help("Ask one position more, and commit its draw when every draft is accepted.");
    }
  };
  explicit Chain(const Options& options) : options_(options) {}
  std::vector<Form> asks() const override { return {Form::chain}; }

  Asking<Verdict> judge(const Step& step, const Proposal& proposal, const Acceptance& acceptance) const override {
    const int drafted = static_cast<int>(proposal.nodes.size());
    const int length = std::min(drafted, step.window.span);
    const int exact = std::min(length, proposal.exact);
    const bool bonus = options_.bonus && length == drafted && length < step.window.span;

    // Only what is tested is asked, and only the drafts that a tested one sees are sent: exact drafts cost nothing here.
    Question question{.kind = Kind::verify, .view = View::causal, .nodes = {}, .asks = {}};
    for (int i = exact; i < length; ++i) question.asks.push_back({i - 1, {proposal.nodes[i].position}});
    if (bonus) question.asks.push_back({length - 1, {step.window.positions[length]}});
    Answer answer;
    if (!question.asks.empty()) {
      question.nodes.assign(proposal.nodes.begin(), proposal.nodes.begin() + question.asks.back().node + 1);
      answer = co_await step.ask(std::move(question));
    }

    Verdict verdict{.commits = {}, .edits = {}, .why = length == step.window.span ? step.window.boundary : Stop::complete, .carry = {}, .judged = {}};
    const bool shadow = step.decode.shadow != "off";  // what would have become of the drafts after a rejection is wanted too
    bool rejected = false;
    for (int i = 0; i < length && (!rejected || shadow); ++i) {
      const Node& node = proposal.nodes[i];
      const Distribution* drawn_from = proposal.drawn_from.empty() ? nullptr : &proposal.drawn_from[i];
      const double q = drawn_from ? drawn_from->probability(node.token) : 1.0;
      if (i < exact) {
        verdict.judged.push_back({q, q, 1, true});
        verdict.commits.push_back({node.position, node.token, Source::accepted});
        continue;
      }
      const Distribution target = step.drawn(answer.at(i - 1, node.position));
      const Trial trial{node.token, target, drawn_from, i};
      const double accept = acceptance.probability(trial);
      if (rejected) {
        verdict.judged.push_back({target.probability(node.token), q, accept, false, false});
        continue;
      }
      const bool accepted = step.chance.below(accept, step.site(node.position, Purpose::accept));
      verdict.judged.push_back({target.probability(node.token), q, accept, accepted});
      if (accepted) {
        verdict.commits.push_back({node.position, node.token, Source::accepted});
        continue;
      }
      verdict.why = Stop::wrong_token;
      const Distribution replacement = acceptance.replacement(trial);
      if (!replacement.empty()) {
        const Token token = step.chance.draw(replacement, step.site(node.position, Purpose::residual));
        verdict.commits.push_back({node.position, token, Source::resampled});
      }
      rejected = true;
    }
    if (bonus && !rejected) {
      const std::int32_t position = step.window.positions[length];
      const Distribution target = step.drawn(answer.at(length - 1, position));
      verdict.commits.push_back({position, step.chance.draw(target, step.site(position, Purpose::bonus)), Source::bonus});
    }
    co_return verdict;
  }

 private:
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(chain) {
  registries.verifiers.add<draftlab::Chain>("chain", "one pass over a drafted path; the first rejection is replaced (ASSD, Algorithm 1)");
}
