// Token recycling (Luo et al., 2024): a table says which tokens the target last found most probable
// after each token, and the drafts are a tree of these. A verification answers for every token of
// the tree, accepted or not, and each answer replaces a row of the table. So nothing that the
// target computed is thrown away. The tree has the nodes whose ranks add up to least (rank 1 is a
// row's first token); the authors' fixed tree of 80 nodes is another one. The table belongs to one
// sequence. Drafts are point masses.
#include <map>
#include <set>

#include "core/config/plugin.h"
#include "plugins/drafters/point_masses.h"

namespace draftlab {
namespace {

class TokenRecycling final : public Drafter {
 public:
  struct Options {
    std::int64_t row = 8, drafts = 80;
    void declare(OptionSet& set) {
      set.add("row", &row).in(1, 64).help("Successors that the table keeps for each token.");
      set.add("drafts", &drafts).in(1, 4096).help("Most drafts of a step.");
    }
  };
  explicit TokenRecycling(const Options& options) : options_(options) {}
  std::vector<Form> asks() const override { return {Form::committed}; }

  Asking<Proposal> propose(const Step& step) const override {
    step.aux();
    const auto& window = step.window.positions;
    const auto levels = step.most_drafts();
    Proposal proposal;
    // Candidates by the sum of their ranks; among equals those that were found first.
    struct Candidate {
      std::int64_t ranks = 0;
      int found = 0, parent = kRoot;
      std::size_t depth = 0;
      Token token = kNoToken;
      bool operator<(const Candidate& other) const {
        return ranks != other.ranks ? ranks < other.ranks : found < other.found;
      }
    };
    std::set<Candidate> candidates;
    int found = 0;
    const auto follow = [&](Token token, std::int64_t ranks, int parent, std::size_t depth) {
      const auto row = rows_.find(token);
      if (row == rows_.end() || depth >= levels) return;
      for (const Token next : row->second)
        candidates.insert({++ranks, found++, parent, depth, next});
    };
    follow(before(step.canvas, window.front()), 0, kRoot, 0);
    while (!candidates.empty() &&
           static_cast<std::int64_t>(proposal.nodes.size()) < options_.drafts) {
      const Candidate best = *candidates.begin();
      candidates.erase(candidates.begin());
      proposal.nodes.push_back({best.parent, window[best.depth], best.token});
      follow(best.token, best.ranks, static_cast<int>(proposal.nodes.size()) - 1, best.depth + 1);
    }
    proposal.lookahead = 1;
    return or_own_draw(step, std::move(proposal));
  }

  void observe(const Canvas& canvas, const Route&, const Verdict& verdict) override {
    if (!verdict.proposal || verdict.proposal->nodes.empty()) return;
    const Proposal& proposal = *verdict.proposal;
    const std::int32_t first = proposal.nodes.front().position;
    // The target's own draw was asked about the token before it.
    if (proposal.exact == 1 && !proposal.raw.empty())
      rows_[before(canvas, first)] = best_of(proposal.raw.front());
    if (!verdict.carry) return;
    const Answer& answer = verdict.carry->answer;
    if (const Distribution* const next = answer.find(kRoot, first))
      rows_[before(canvas, first)] = best_of(*next);
    const std::vector<Node>& nodes = verdict.carry->nodes;
    for (int i = 0; i < static_cast<int>(nodes.size()); ++i)
      if (const Distribution* const next = answer.find(i, nodes[i].position + 1))
        rows_[nodes[i].token] = best_of(*next);
  }
  std::string state() const override {
    std::string text;
    for (const auto& [token, row] : rows_) {
      text += std::to_string(token) + ":";
      for (const Token next : row) text += std::to_string(next) + ",";
    }
    return text;
  }

 private:
  static Token before(const Canvas& canvas, std::int32_t position) {
    return position > 0 ? canvas.token(position - 1) : kNoToken;
  }
  std::vector<Token> best_of(const Distribution& next) const {
    return next.best(static_cast<int>(std::min<std::int64_t>(options_.row, next.size())));
  }

  Options options_;
  // After each token, the most probable ones, best first.
  std::map<Token, std::vector<Token>> rows_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(drafter, token_recycling) {
  registries.drafters.add<draftlab::TokenRecycling>(
      "token-recycling",
      "a tree of what the target last found probable after each token; lossless");
}
