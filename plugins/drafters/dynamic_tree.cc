// A draft model, or the target's own shallow answers, grow a tree where they are confident
// (EAGLE-2, Li et al., 2024). The score of a node is the product of the probabilities on the way to
// it. Each level goes on from the `width` best nodes of the last one, with their `width` best
// tokens each; of all nodes that were looked at the best `nodes` are drafted. Nothing is drawn:
// every draft is a point mass, and so the shape may depend on the distributions, and the drafts of
// a node differ.
#include <algorithm>
#include <array>
#include <string_view>

#include "core/config/plugin.h"
#include "core/parts/drafter.h"

namespace draftlab {
namespace {

constexpr int kTarget = 0, kDraftModel = 1;

// What a draft says that it was drawn from: itself, surely, or the draft model's law.
enum class Claim { point, law };
constexpr std::array<std::string_view, 2> words(Claim) { return {"point", "law"}; }

// Who says what is probable: model.draft, or the target's shallow answers (drafter `shallow`).
enum class Guide { draft, shallow };
constexpr std::array<std::string_view, 2> words(Guide) { return {"draft", "shallow"}; }

class DynamicTree final : public Drafter {
 public:
  struct Options {
    std::int64_t width = 10, nodes = 59;
    Claim claim = Claim::point;
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
              "The laws that the tree follows: those of model.draft, or the target's own shallow "
              "ones (its first layers, or its feature head).");
      set.add("claim", &claim)
          .help(
              "Say that drafts are point masses, which they are; or, not lossless, that each was "
              "drawn from the draft model.");
    }
  };
  explicit DynamicTree(const Options& options) : options_(options) {}
  std::vector<Form> asks() const override {
    return shallow() ? std::vector{Form::shallow, Form::committed} : std::vector<Form>{};
  }
  std::vector<Form> asks_draft_model() const override {
    return shallow() ? std::vector<Form>{} : std::vector{Form::committed, Form::chain};
  }

  Asking<Proposal> propose(const Step& step) const override {
    const std::vector<std::int32_t>& window = step.window.positions;
    const auto levels = std::min<std::size_t>(window.size(), step.decode.draft_length);
    std::vector<Candidate> tree;
    std::vector<int> front = {kRoot};
    for (std::size_t level = 0; level < levels; ++level) {
      Question question{
          .kind = Kind::draft, .view = View::causal, .nodes = {}, .asks = {}, .shallow = shallow()};
      std::vector<int> sent(tree.size(), kRoot);
      for (const int node : front)
        question.asks.push_back({send(tree, node, sent, question), {window[level]}});
      const std::vector<Ask> asks = question.asks;
      const Answer answer =
          co_await step.ask(std::move(question), shallow() ? kTarget : kDraftModel);

      std::vector<int> grown;
      for (std::size_t i = 0; i < front.size(); ++i) {
        const Distribution& raw = answer.at(asks[i].node, window[level]);
        const double score = front[i] == kRoot ? 1 : tree[front[i]].score;
        for (const Token token : raw.best(static_cast<int>(options_.width))) {
          if (raw.probability(token) <= 0) continue;
          grown.push_back(static_cast<int>(tree.size()));
          tree.push_back({{front[i], window[level], token}, raw, score * raw.probability(token)});
        }
      }
      front = best(tree, std::move(grown), options_.width);
    }
    Proposal proposal = drafted(tree, options_.nodes);
    if (options_.claim == Claim::law)
      for (const Distribution& raw : proposal.raw) proposal.drawn_from.push_back(step.drawn(raw));
    co_return proposal;
  }

 private:
  struct Candidate {
    Node node;
    Distribution raw;
    double score = 0;
  };

  bool shallow() const { return options_.guide == Guide::shallow; }

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
      "the most probable paths of model.draft, or of the target's shallow answers, as a tree of "
      "point masses (EAGLE-2); lossless");
}
