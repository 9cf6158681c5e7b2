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
    Rows rows{std::min(static_cast<int>(proposal.nodes.size()), step.window.span)};
    for (int order = 0; order < options_.orders; ++order)
      rows.orders.push_back(permutation(step, rows.drafted, order));
    Question question = rows.question(proposal);
    const std::vector<Ask> asks = question.asks;
    Answer answer;
    if (!asks.empty()) answer = co_await step.ask(std::move(question));
    const auto law = [&](std::size_t order, int rank) {
      const Ask& ask = asks[order * (rows.drafted - 1) + rank - 1];
      return step.drawn(answer.at(ask.node, ask.positions.front()));
    };
    rows.weigh(proposal, acceptance, law);
    co_return rows.verdict(proposal, passed(step, proposal, rows));
  }

 private:
  // The orders, a batch row each, and by draft and order how it is judged.
  struct Rows {
    int drafted = 0;
    std::vector<std::vector<int>> orders = {};
    std::vector<std::vector<double>> accept = {}, target = {};

    // Asks about every draft but the first of an order, behind those before it.
    Question question(const Proposal& proposal) const {
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
      return question;
    }

    // `law` is the target's at a rank of an order. The first position of an order sees only what is
    // committed, so its draft is the target's own draw.
    template <class Law>
    void weigh(const Proposal& proposal, const Acceptance& acceptance, const Law& law) {
      accept.assign(drafted, std::vector<double>(orders.size(), 1.0));
      target = accept;
      for (std::size_t order = 0; order < orders.size(); ++order) {
        target[orders[order][0]][order] = drawn(proposal, orders[order][0]);
        for (int rank = 1; rank < drafted; ++rank) {
          const int draft = orders[order][rank];
          const Token token = proposal.nodes[draft].token;
          const Distribution p = law(order, rank);
          accept[draft][order] = acceptance.probability(
              {token, p, proposal.drawn_from.empty() ? nullptr : &proposal.drawn_from[draft],
               rank});
          target[draft][order] = p.probability(token);
        }
      }
    }

    // Commits the longest prefix of drafts that passed, the first order's among equals.
    Verdict verdict(const Proposal& proposal, const std::vector<std::vector<bool>>& passed) const {
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
                      .judged = std::vector<Judged>(drafted)};
      for (int rank = 0; rank < drafted; ++rank) {
        const int draft = orders[best][rank];
        verdict.judged[draft] = {target[draft][best], drawn(proposal, draft), accept[draft][best],
                                 rank < longest};
        if (rank < longest)
          verdict.commits.push_back(commit_of(proposal.nodes[draft], Source::accepted));
      }
      return verdict;
    }

    static double drawn(const Proposal& proposal, int draft) {
      return proposal.drawn_from.empty()
                 ? 1.0
                 : proposal.drawn_from[draft].probability(proposal.nodes[draft].token);
    }
  };

  // Says by draft and order whether the draft passes its test.
  std::vector<std::vector<bool>> passed(const Step& step, const Proposal& proposal,
                                        const Rows& rows) const {
    std::vector<std::vector<bool>> passed(rows.drafted);
    for (int draft = 0; draft < rows.drafted; ++draft) {
      const std::int32_t position = proposal.nodes[draft].position;
      if (options_.shared) {
        passed[draft] = step.chance.below(rows.accept[draft], step.site(position, Purpose::accept));
        continue;
      }
      for (std::size_t order = 0; order < rows.orders.size(); ++order)
        passed[draft].push_back(step.chance.below(
            rows.accept[draft][order],
            step.site(position, Purpose::accept, static_cast<std::uint32_t>(order))));
    }
    return passed;
  }

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
