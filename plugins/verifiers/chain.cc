// Judges drafted paths in one pass, by the density of each draft given those before it (ASSD,
// Algorithm 1, lines 10-24). Where a node has several drafts they are tried in turn, each against
// what its rejected siblings left of the target (SpecInfer, Algorithm 2). The first position
// without an accepted draft is replaced and ends the step.
#include <algorithm>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "plugins/verifiers/paths.h"

namespace draftlab {
namespace {

class Chain final : public Verifier {
 public:
  struct Options {
    bool bonus = false, all_spans = false;
    std::int64_t minimum_block = 0;
    double ratio_threshold = -1;
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
      set.add("ratio_threshold", &ratio_threshold)
          .in(-1, 1)
          .help(
              "Commit drafts behind a rejection, too, if at least so probably accepted (S2D2's "
              "code; not lossless); -1: none.");
      set.add("all_spans", &all_spans)
          .help("With ratio_threshold: those behind the span, too, up to the window's end.");
    }
  };
  explicit Chain(const Options& options) : options_(options) {
    if (options.all_spans && options.ratio_threshold < 0)
      throw ConfigError(
          "verifier.chain.all_spans = true needs a ratio_threshold from 0 on: it says where drafts "
          "are taken that reach it");
  }
  std::vector<Form> asks() const override { return {Form::chain}; }

  Asking<Verdict> judge(const Step& step, const Proposal& proposal,
                        const Acceptance& acceptance) const override {
    Paths paths(step, proposal, options_.bonus, options_.all_spans);
    co_await paths.ask();
    Walk walk{paths, options_, acceptance};
    walk.along();
    const bool took = options_.ratio_threshold >= 0 && walk.take_likely();
    if (step.decode.shadow != Shadow::off) walk.measure_the_rest();
    if (!took) paths.carry(walk.at, walk.unseen_commits, walk.verdict);
    co_return std::move(walk.verdict);
  }

 private:
  // Where the verdict stands in the proposal's tree.
  struct Walk {
    const Paths& paths;
    const Options& options;
    const Acceptance& acceptance;
    const Step& step = paths.step;
    Verdict verdict{.commits = {}, .edits = {}, .carry = {}, .judged = paths.unjudged()};
    int at = kRoot, unseen_commits = 0;

    // Walks down from the committed state as long as drafts are accepted.
    void along() {
      at = paths.accept_exact(verdict);
      while (!paths.below(at).empty() && paths.room(at)) {
        if (try_drafts()) continue;
        verdict.why = Stop::wrong_token;
        return trim();
      }
      verdict.why = paths.room(at) ? Stop::complete : step.window.boundary;
      if (options.bonus && paths.commit_bonus(at, verdict)) unseen_commits = 1;
      trim();
    }

    // Returns whether one of the node's drafts is accepted. If none is, what replaces them is
    // committed.
    bool try_drafts() {
      const std::int32_t position = paths.position(at);
      const Distribution& raw = paths.raw(at);
      const Distribution law = step.drawn(raw);
      Distribution target = law, replacement;
      std::uint32_t attempt = 0;
      for (const int draft : paths.below(at)) {
        const Token token = paths.proposal.nodes[draft].token;
        const Trial trial{token, target, paths.drawn_from(draft), paths.depth[draft], raw};
        const double chance =
            paths.depth[draft] < options.minimum_block ? 1 : acceptance.probability(trial);
        const bool accepted =
            step.chance.below(chance, step.site(position, Purpose::accept, attempt++));
        verdict.judged[draft] = {
            target.probability(token), paths.claimed(draft), chance, accepted, true, {}, law};
        if (accepted) {
          paths.accept(draft, verdict);
          at = draft;
          return true;
        }
        replacement = acceptance.replacement(trial);
        if (!replacement.empty()) target = replacement;
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

    // Commits drafts that the walk did not reach and that would be accepted with at least the
    // probability `ratio_threshold`, each judged after the drafts before it, rejected ones
    // included. Returns whether there is any.
    bool take_likely() {
      const std::vector<Node>& nodes = paths.proposal.nodes;
      const std::size_t walked = verdict.commits.size();
      for (int i = static_cast<int>(verdict.judged.size()); i < static_cast<int>(nodes.size());
           ++i) {
        if (paths.depth[i] >= paths.asked_end()) continue;
        if (std::any_of(verdict.commits.begin(), verdict.commits.end(),
                        [&](const Commit& commit) { return commit.position == nodes[i].position; }))
          continue;
        const Distribution& raw = paths.raw(nodes[i].parent);
        const Distribution target = step.drawn(raw);
        const Trial trial{nodes[i].token, target, paths.drawn_from(i), paths.depth[i], raw};
        if (acceptance.probability(trial) >= options.ratio_threshold)
          verdict.commits.push_back(commit_of(nodes[i], Source::threshold));
      }
      return verdict.commits.size() > walked;
    }

    // Computes what would have become of the drafts that the walk did not reach.
    void measure_the_rest() {
      const std::vector<Node>& nodes = paths.proposal.nodes;
      verdict.judged.resize(nodes.size(), {kNotMeasured, kNotMeasured, kNotMeasured, false, false});
      for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
        if (verdict.judged[i].reached || paths.depth[i] >= step.window.span) continue;
        const Distribution& raw = paths.raw(nodes[i].parent);
        const Distribution target = step.drawn(raw);
        const Trial trial{nodes[i].token, target, paths.drawn_from(i), paths.depth[i], raw};
        verdict.judged[i] = {target.probability(nodes[i].token), paths.claimed(i),
                             acceptance.probability(trial), false, false};
      }
      while (!verdict.judged.empty() && paths.depth[verdict.judged.size() - 1] >= step.window.span)
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
