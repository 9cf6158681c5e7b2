// Judges drafted paths in one pass, by the density of each draft given those before it (ASSD,
// Algorithm 1, lines 10-24). Where a node has several drafts they are tried in turn, each against
// what its rejected siblings left of the target (SpecInfer, Algorithm 2). The first position
// without an accepted draft is replaced and ends the step.
#include <algorithm>

#include "core/config/plugin.h"
#include "core/parts/verifier.h"
#include "core/trace/rows.h"

namespace draftlab {
namespace {

constexpr int kNotSent = -2;

class Chain final : public Verifier {
 public:
  struct Options {
    bool bonus = false, update_target = true;
    std::int64_t minimum_block = 0;
    void declare(OptionSet& set) {
      set.add("bonus", &bonus)
          .help(
              "Ask one position more where drafts are tested, and commit its draw when every one "
              "is accepted.");
      set.add("minimum_block", &minimum_block)
          .in(0, 4096)
          .help(
              "Accept so many leading drafts untested (blockwise parallel decoding, Sec. 5.3); "
              "above the exact ones not lossless.");
      set.add("update_target", &update_target)
          .help(
              "Judge a draft against what its rejected siblings left of the target; false: against "
              "all of it, not lossless (a negative control).");
    }
  };
  explicit Chain(const Options& options) : options_(options) {}
  std::vector<Form> asks() const override { return {Form::chain}; }

  Asking<Verdict> judge(const Step& step, const Proposal& proposal,
                        const Acceptance& acceptance) const override {
    Walk walk(step, proposal, options_);
    Answer answer;
    std::vector<Node> nodes = walk.question.nodes;
    if (!walk.question.asks.empty()) {
      Question question = std::move(walk.question);
      answer = co_await step.ask(std::move(question));
    }
    walk.along(answer, acceptance);
    if (step.decode.shadow != Shadow::off) walk.measure_the_rest(answer, acceptance);
    if (proposal.lookahead > 0 && !answer.empty())
      walk.verdict.carry =
          Carry{std::move(answer), walk.sent_as(walk.at), walk.unseen_commits, std::move(nodes)};
    co_return std::move(walk.verdict);
  }

 private:
  // Holds the proposal's tree, what is asked of it, and where the verdict stands.
  struct Walk {
    const Step& step;
    const Proposal& proposal;
    const Options& options;
    // For each drafted node: its depth, and its index in the question.
    std::vector<int> depth, sent;
    // The drafts within the span that follow the root, then those that follow each node.
    std::vector<std::vector<int>> drafts;
    Question question{.kind = Kind::verify, .view = View::causal, .nodes = {}, .asks = {}};
    Verdict verdict;
    int at = kRoot, unseen_commits = 0;
    bool tests = false;  // Whether any draft is tested.

    Walk(const Step& its_step, const Proposal& its_proposal, const Options& its_options)
        : step(its_step), proposal(its_proposal), options(its_options) {
      const std::size_t drafted = proposal.nodes.size();
      depth.assign(drafted, 0);
      sent.assign(drafted, kNotSent);
      drafts.resize(drafted + 1);
      for (std::size_t i = 0; i < drafted; ++i) {
        const int parent = proposal.nodes[i].parent;
        if (parent != kRoot) depth[i] = depth[parent] + 1;
        if (depth[i] < step.window.span) drafts[parent + 1].push_back(static_cast<int>(i));
      }
      verdict.judged.assign(drafted, {kNotMeasured, kNotMeasured, kNotMeasured, false, false});
      ask();
    }

    int exact() const { return std::min(proposal.exact, step.window.span); }
    // Returns an index into the window.
    int next(int node) const { return node == kRoot ? 0 : depth[node] + 1; }
    int sent_as(int node) const { return node == kRoot ? kRoot : sent[node]; }

    // Asks only for what is tested, and sends only the drafts that an asked position sees: exact
    // drafts cost nothing here. What else is wanted, a bonus or the next step's carry, is asked for
    // together with a test.
    void ask() {
      std::vector<int> asked;
      for (int node = kRoot; node < static_cast<int>(proposal.nodes.size()); ++node) {
        const std::vector<int>& its = drafts[node + 1];
        if (!its.empty() && its.front() >= exact()) asked.push_back(node), tests = true;
      }
      for (int node = kRoot; node < static_cast<int>(proposal.nodes.size()); ++node) {
        const bool leaf = drafts[node + 1].empty() && next(node) < step.window.span;
        if (tests && leaf && (options.bonus || proposal.lookahead > 0)) asked.push_back(node);
      }
      for (int node : asked)
        for (; node != kRoot && sent[node] == kNotSent; node = proposal.nodes[node].parent)
          sent[node] = 0;
      for (std::size_t i = 0; i < sent.size(); ++i) {
        if (sent[i] == kNotSent) continue;
        sent[i] = static_cast<int>(question.nodes.size());
        question.nodes.push_back({sent_as(proposal.nodes[i].parent), proposal.nodes[i].position,
                                  proposal.nodes[i].token});
      }
      std::sort(asked.begin(), asked.end());
      for (const int node : asked) {
        const auto first = step.window.positions.begin() + next(node);
        const auto count = std::min<std::ptrdiff_t>(std::max(1, proposal.lookahead),
                                                    step.window.span - next(node));
        question.asks.push_back({sent_as(node), {first, first + count}});
      }
    }

    const Distribution* drawn_from(int draft) const {
      return proposal.drawn_from.empty() ? nullptr : &proposal.drawn_from[draft];
    }
    double claimed(int draft) const {
      return drawn_from(draft) ? drawn_from(draft)->probability(proposal.nodes[draft].token) : 1.0;
    }

    void accept(int draft) {
      verdict.commits.push_back(commit_of(proposal.nodes[draft], Source::accepted));
      at = draft;
    }

    // Walks down from the committed state as long as drafts are accepted.
    void along(const Answer& answer, const Acceptance& acceptance) {
      while (!drafts[at + 1].empty()) {
        const int first = drafts[at + 1].front();
        if (first < exact()) {
          verdict.judged[first] = {claimed(first), claimed(first), 1, true, true};
          accept(first);
        } else if (!try_drafts(answer, acceptance)) {
          verdict.why = Stop::wrong_token;
          return trim();
        }
      }
      verdict.why = next(at) == step.window.span ? step.window.boundary : Stop::complete;
      if (tests && options.bonus && next(at) < step.window.span) {
        const std::int32_t position = step.window.positions[next(at)];
        const Distribution target = step.drawn(answer.at(sent_as(at), position));
        verdict.commits.push_back({position,
                                   step.chance.draw(target, step.site(position, Purpose::bonus)),
                                   Source::bonus});
        unseen_commits = 1;
      }
      trim();
    }

    // Returns whether one of the node's drafts is accepted. If none is, what replaces them is
    // committed.
    bool try_drafts(const Answer& answer, const Acceptance& acceptance) {
      const std::int32_t position = step.window.positions[next(at)];
      const Distribution& raw = answer.at(sent_as(at), position);
      Distribution target = step.drawn(raw), replacement;
      std::uint32_t attempt = 0;
      for (const int draft : drafts[at + 1]) {
        const Token token = proposal.nodes[draft].token;
        const Trial trial{token, target, drawn_from(draft), depth[draft], raw};
        const double chance =
            depth[draft] < options.minimum_block ? 1 : acceptance.probability(trial);
        const bool accepted =
            step.chance.below(chance, step.site(position, Purpose::accept, attempt++));
        verdict.judged[draft] = {target.probability(token), claimed(draft), chance, accepted, true};
        if (accepted) {
          accept(draft);
          return true;
        }
        replacement = acceptance.replacement(trial);
        if (options.update_target && !replacement.empty()) target = replacement;
      }
      if (!replacement.empty()) {
        verdict.commits.push_back(
            {position, step.chance.draw(replacement, step.site(position, Purpose::residual)),
             Source::resampled});
        unseen_commits = 1;
      }
      return false;
    }

    // Drops the entries behind the last node that the walk reached.
    void trim() {
      while (!verdict.judged.empty() && !verdict.judged.back().reached) verdict.judged.pop_back();
    }

    // Computes what would have become of the drafts that the walk did not reach.
    void measure_the_rest(const Answer& answer, const Acceptance& acceptance) {
      verdict.judged.resize(proposal.nodes.size(),
                            {kNotMeasured, kNotMeasured, kNotMeasured, false, false});
      for (std::size_t i = 0; i < proposal.nodes.size(); ++i) {
        const Node& node = proposal.nodes[i];
        if (verdict.judged[i].reached || depth[i] >= step.window.span) continue;
        const Distribution& raw = answer.at(sent_as(node.parent), node.position);
        const Distribution target = step.drawn(raw);
        const Trial trial{node.token, target, drawn_from(static_cast<int>(i)), depth[i], raw};
        verdict.judged[i] = {target.probability(node.token), claimed(static_cast<int>(i)),
                             acceptance.probability(trial), false, false};
      }
      while (!verdict.judged.empty() && depth[verdict.judged.size() - 1] >= step.window.span)
        verdict.judged.pop_back();
    }
  };

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(verifier, chain) {
  registries.verifiers.add<draftlab::Chain>(
      "chain",
      "one pass over drafted paths; the first rejection is replaced (ASSD, Algorithm 1); lossless "
      "but for its options");
}
