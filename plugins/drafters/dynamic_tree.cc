// A draft model, the target's own shallow answers or its prediction heads grow a tree where they
// are confident (EAGLE-2, Li et al., 2024; with prediction heads the trees of Medusa, Cai et al.,
// 2024, of whose heads all nodes of a level have the same law). The score of a node is the product
// of the probabilities on the way to it. Each level goes on from the `width` best nodes of the last
// one, with their `width` best tokens each; of all nodes that were looked at the best `nodes` are
// drafted. Nothing is drawn: every draft is a point mass, and so the shape may depend on the
// distributions, and the drafts of a node differ.
#include <algorithm>
#include <array>
#include <string_view>

#include "core/config/plugin.h"
#include "core/parts/drafter.h"
#include "plugins/drafters/asked_models.h"

namespace draftlab {
namespace {

// Who says what is probable: model.draft, the target's shallow answers (drafter `shallow`), or its
// prediction heads (drafter `heads`).
enum class Guide { draft, shallow, heads };
constexpr std::array<std::string_view, 3> words(Guide) { return {"draft", "shallow", "heads"}; }

class DynamicTree final : public Drafter {
 public:
  struct Options {
    std::int64_t width = 10, nodes = 59;
    Guide guide = Guide::draft;
    void declare(OptionSet& set) {
      set.add("width", &width)
          .in(1, 64)
          .help(
              "Nodes of each level that are drafted on, and tokens tried behind each; "
              "decode.draft_length is the number of levels.");
      set.add("nodes", &nodes)
          .in(1, 4096)
          .help(
              "Drafts that are verified: the best of all levels by the product of probabilities.");
      set.add("guide", &guide)
          .help(
              "The laws that the tree follows: those of model.draft; the target's own shallow ones "
              "(its first layers, feature head or Hydra heads); or those of its prediction heads "
              "(Medusa), which the last verification answered.");
    }
  };
  explicit DynamicTree(const Options& options) : options_(options) {}
  std::vector<Form> asks() const override {
    if (options_.guide == Guide::draft) return {};
    return shallow() ? std::vector{Form::shallow, Form::committed} : std::vector{Form::committed};
  }
  std::vector<Form> asks_draft_model() const override {
    if (options_.guide != Guide::draft) return {};
    return {Form::committed, Form::chain};
  }

  Asking<Proposal> propose(const Step& step) const override {
    const std::vector<std::int32_t>& window = step.window.positions;
    const auto levels = std::min<std::size_t>(window.size(), step.decode.draft_length);
    std::vector<Candidate> tree;
    std::vector<int> front = {kRoot};
    Answer known;
    int at = kRoot;
    if (heads() && step.carry && step.carry->answer.find(step.carry->node, window.front())) {
      known = step.carry->answer;
      at = step.carry->node;
    } else if (heads()) {
      Question question{.kind = Kind::draft,
                        .view = View::causal,
                        .nodes = {},
                        .asks = {{kRoot, {window.begin(), window.begin() + levels}}}};
      known = co_await step.ask(std::move(question), kTarget);
    }
    for (std::size_t level = 0; level < levels; ++level) {
      std::vector<Distribution> laws;
      if (heads()) {
        // Behind a replacement there are laws of fewer positions.
        const Distribution* const law = known.find(at, window[level]);
        if (!law) break;
        laws.assign(front.size(), *law);
      } else {
        Question question{.kind = Kind::draft,
                          .view = View::causal,
                          .nodes = {},
                          .asks = {},
                          .shallow = shallow()};
        std::vector<int> sent(tree.size(), kRoot);
        for (const int node : front)
          question.asks.push_back({send(tree, node, sent, question), {window[level]}});
        const std::vector<Ask> asks = question.asks;
        const Answer answer =
            co_await step.ask(std::move(question), shallow() ? kTarget : kDraftModel);
        for (const Ask& ask : asks) laws.push_back(answer.at(ask.node, window[level]));
      }
      front = grow(tree, front, laws, window[level]);
    }
    Proposal proposal = drafted(tree, options_.nodes);
    if (heads()) proposal.lookahead = static_cast<int>(step.decode.draft_length);
    co_return proposal;
  }

 private:
  struct Candidate {
    Node node;
    Distribution raw;
    double score = 0;
  };

  bool shallow() const { return options_.guide == Guide::shallow; }
  bool heads() const { return options_.guide == Guide::heads; }

  // Adds the best tokens behind each node of the front, whose laws are given. Returns the next
  // front.
  std::vector<int> grow(std::vector<Candidate>& tree, const std::vector<int>& front,
                        const std::vector<Distribution>& laws, std::int32_t position) const {
    std::vector<int> grown;
    for (std::size_t i = 0; i < front.size(); ++i) {
      const double score = front[i] == kRoot ? 1 : tree[front[i]].score;
      for (const Token token : laws[i].best(static_cast<int>(options_.width))) {
        const double probability = laws[i].probability(token);
        if (probability <= 0) continue;
        grown.push_back(static_cast<int>(tree.size()));
        tree.push_back({{front[i], position, token}, laws[i], score * probability});
      }
    }
    return best(tree, std::move(grown), options_.width);
  }

  // Puts a node and those above it into the question. Returns its index there.
  static int send(const std::vector<Candidate>& tree, int node, std::vector<int>& sent,
                  Question& question) {
    if (node == kRoot) return kRoot;
    if (sent[node] == kRoot) {
      Node copy = tree[node].node;
      copy.parent = send(tree, copy.parent, sent, question);
      sent[node] = static_cast<int>(question.nodes.size());
      question.nodes.push_back(copy);
    }
    return sent[node];
  }

  // The nodes with the best scores, in the order of the tree. Of equal scores the node that is
  // nearer to the root comes first, so that no node is kept without its parent.
  static std::vector<int> best(const std::vector<Candidate>& tree, std::vector<int> nodes,
                               std::int64_t count) {
    std::sort(nodes.begin(), nodes.end(), [&](int a, int b) {
      return tree[a].score != tree[b].score ? tree[a].score > tree[b].score : a < b;
    });
    nodes.resize(std::min(nodes.size(), static_cast<std::size_t>(count)));
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  }

  static Proposal drafted(const std::vector<Candidate>& tree, std::int64_t count) {
    std::vector<int> all(tree.size()), place(tree.size(), kRoot);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
    Proposal proposal;
    for (const int node : best(tree, std::move(all), count)) {
      place[node] = static_cast<int>(proposal.nodes.size());
      proposal.nodes.push_back(tree[node].node);
      int& parent = proposal.nodes.back().parent;
      if (parent != kRoot) parent = place[parent];
      proposal.raw.push_back(tree[node].raw);
    }
    return proposal;
  }

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(drafter, dynamic_tree) {
  registries.drafters.add<draftlab::DynamicTree>(
      "dynamic-tree",
      "the most probable paths of model.draft, of the target's shallow answers or of its "
      "prediction heads (Medusa), as a tree of point masses (EAGLE-2); lossless");
}
