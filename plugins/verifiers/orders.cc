// sigma-GPT's rule (Pannatier et al., 2024): the drafted tokens are judged in several random orders
// in one pass, one batch row an order; the order with the longest accepted prefix is committed, and
// nothing is resampled. It is not lossless, and serves as the baseline.
#include <algorithm>
#include <numeric>

#include "core/config/plugin.h"
#include "core/parts/verifier.h"

namespace draftlab {
namespace {

class Orders final : public Verifier {
 public:
  struct Options {
    std::int64_t orders = 5;
    bool shared = true;
    void declare(OptionSet& set) {
      set.add("orders", &orders)
          .in(1, 64)
          .help("Random orders judged in one pass; one batch row each.");
      set.add("shared", &shared)
          .help(
              "Use one uniform a position in all orders, as the text model does; false draws one a "
              "position and order.");
    }
  };
  explicit Orders(const Options& options) : options_(options) {}
  std::vector<Form> asks() const override { return {Form::chain}; }

  Asking<Verdict> judge(const Step& step, const Proposal& proposal,
                        const Acceptance& acceptance) const override {
    const int drafted = std::min(static_cast<int>(proposal.nodes.size()), step.window.span);
    std::vector<std::vector<int>> orders;
    for (int order = 0; order < options_.orders; ++order)
      orders.push_back(permutation(step, drafted, order));

    Question question{.kind = Kind::verify, .view = View::causal, .nodes = {}, .asks = {}};
    for (const auto& order : orders) {
      for (int rank = 0; rank + 1 < drafted; ++rank) {
        const Node& draft = proposal.nodes[order[rank]];
        const int parent = rank == 0 ? kRoot : static_cast<int>(question.nodes.size()) - 1;
        question.nodes.push_back({parent, draft.position, draft.token});
        question.asks.push_back({static_cast<int>(question.nodes.size()) - 1,
                                 {proposal.nodes[order[rank + 1]].position}});
      }
    }
    const std::vector<Ask> asks = question.asks;
    Answer answer;
    if (!asks.empty()) answer = co_await step.ask(std::move(question));

    // The first position of an order sees only what is committed, so its draft is the target's own
    // draw.
    std::vector<std::vector<double>> accept(drafted, std::vector<double>(orders.size(), 1.0)),
        target = accept;
    for (std::size_t order = 0; order < orders.size(); ++order) {
      const Node& first = proposal.nodes[orders[order][0]];
      target[orders[order][0]][order] =
          proposal.drawn_from.empty()
              ? 1.0
              : proposal.drawn_from[orders[order][0]].probability(first.token);
      for (int rank = 1; rank < drafted; ++rank) {
        const int draft = orders[order][rank];
        const Ask& ask = asks[order * (drafted - 1) + rank - 1];
        const Node& node = proposal.nodes[draft];
        const Distribution p = step.drawn(answer.at(ask.node, node.position));
        accept[draft][order] = acceptance.probability(
            {node.token, p, proposal.drawn_from.empty() ? nullptr : &proposal.drawn_from[draft],
             rank});
        target[draft][order] = p.probability(node.token);
      }
    }
    std::vector<std::vector<bool>> passed(drafted);
    for (int draft = 0; draft < drafted; ++draft) {
      const std::int32_t position = proposal.nodes[draft].position;
      if (options_.shared) {
        passed[draft] = step.chance.below(accept[draft], step.site(position, Purpose::accept));
      } else {
        for (std::size_t order = 0; order < orders.size(); ++order) {
          passed[draft].push_back(step.chance.below(
              accept[draft][order],
              step.site(position, Purpose::accept, static_cast<std::uint32_t>(order))));
        }
      }
    }

    std::size_t best = 0;
    int longest = -1;
    for (std::size_t order = 0; order < orders.size(); ++order) {
      int prefix = 0;
      while (prefix < drafted && passed[orders[order][prefix]][order]) ++prefix;
      if (prefix > longest) longest = prefix, best = order;
    }
    Verdict verdict{.commits = {},
                    .edits = {},
                    .why = longest == drafted ? Stop::complete : Stop::wrong_order,
                    .carry = {},
                    .judged = {}};
    verdict.judged.assign(drafted, {});
    for (int rank = 0; rank < drafted; ++rank) {
      const int draft = orders[best][rank];
      const Node& node = proposal.nodes[draft];
      const double q =
          proposal.drawn_from.empty() ? 1.0 : proposal.drawn_from[draft].probability(node.token);
      verdict.judged[draft] = {target[draft][best], q, accept[draft][best], rank < longest};
      if (rank < longest) verdict.commits.push_back(commit_of(node, Source::accepted));
    }
    co_return verdict;
  }

 private:
  static std::vector<int> permutation(const Step& step, int size, int order) {
    std::vector<int> left(size), drawn;
    std::iota(left.begin(), left.end(), 0);
    while (left.size() > 1) {
      const auto rank = static_cast<std::int32_t>(drawn.size());
      const Token at =
          step.chance.draw(Distribution::uniform(static_cast<int>(left.size())),
                           step.site(rank, Purpose::order, static_cast<std::uint32_t>(order)));
      drawn.push_back(left[at]);
      left.erase(left.begin() + at);
    }
    drawn.insert(drawn.end(), left.begin(), left.end());
    return drawn;
  }

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(verifier, orders) {
  registries.verifiers.add<draftlab::Orders>("orders",
                                             "several random orders in one pass, the longest "
                                             "accepted prefix wins (sigma-GPT; not lossless)");
}
