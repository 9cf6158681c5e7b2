#include "plugins/drafters/marginal_tree.h"

#include <algorithm>
#include <map>

#include "plugins/drafters/asked_models.h"
#include "plugins/drafters/one_by_one.h"
#include "plugins/drafters/path_tree.h"
#include "plugins/drafters/point_masses.h"

namespace draftlab {
namespace {

// The law of a position: the one that was answered behind the same path, where it was asked, and
// the marginal elsewhere.
struct Corrected {
  const Answer& marginals;
  int at = kRoot;
  // The paths that were asked about, and what was answered behind them.
  std::vector<Node> nodes = {};
  Answer conditionals = {};

  const Distribution& law(int node, std::int32_t position) const {
    const bool asked = node != kRoot && node != kNoNode;
    return asked ? conditionals.at(node, position) : marginals.at(at, position);
  }
};

Proposal grown(const Corrected& told, const std::vector<std::int32_t>& levels,
               const MarginalTree& options) {
  PathTree tree(options.width);
  for (const std::int32_t position : levels) {
    std::vector<Distribution> laws;
    for (const int node : tree.front())
      laws.push_back(told.law(tree.place_in(told.nodes, node), position));
    tree.grow(laws, position);
  }
  return tree.best(options.nodes);
}

// Asks what follows each node of the tree; nothing is drafted behind the last level.
Question what_follows(const Proposal& tree, const std::vector<std::int32_t>& levels) {
  Question question{.kind = Kind::draft, .view = View::bidirectional, .nodes = {}, .asks = {}};
  std::vector<std::size_t> depth;
  for (const Node& node : tree.nodes) {
    depth.push_back(node.parent == kRoot ? 1 : depth[node.parent] + 1);
    if (depth.back() == levels.size()) break;
    question.asks.push_back({static_cast<int>(question.nodes.size()), {levels[depth.back()]}});
    question.nodes.push_back(node);
  }
  return question;
}

// Draws the tokens of a tree of the best ones, in its shape.
Proposal drawn_in_shape(const Step& step, const Proposal& shape) {
  std::map<int, std::vector<int>> behind;
  for (std::size_t i = 0; i < shape.nodes.size(); ++i)
    behind[shape.nodes[i].parent].push_back(static_cast<int>(i));
  Proposal proposal;
  // The node of the proposal that stands in each place of the shape. A law may have fewer tokens
  // than the shape has drafts; the places behind a missing draft stay empty.
  std::map<int, int> standing = {{kRoot, kRoot}};
  for (const auto& [parent, drafts] : behind) {
    const auto stands = standing.find(parent);
    if (stands == standing.end()) continue;
    const std::vector<std::int32_t>& window = step.window.positions;
    const std::int32_t position = shape.nodes[drafts.front()].position;
    const auto level = std::find(window.begin(), window.end(), position) - window.begin();
    const Distribution& raw = shape.raw[drafts.front()];
    const std::vector<DrawnDraft> drawn =
        siblings_of(step, step.drawn(raw), static_cast<std::int64_t>(drafts.size()),
                    {.siblings = Siblings::different,
                     .level = static_cast<std::size_t>(level),
                     .attempt = static_cast<std::uint32_t>(drafts.front())});
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      standing[drafts[i]] = static_cast<int>(proposal.nodes.size());
      proposal.nodes.push_back({stands->second, position, drawn[i].token});
      proposal.drawn_from.push_back(drawn[i].drawn_from);
      proposal.raw.push_back(raw);
    }
  }
  return proposal;
}

}  // namespace

Asking<Proposal> grow_marginal_tree(const Step& step, const MarginalTree& options) {
  std::vector<std::int32_t> levels = step.window.positions;
  levels.resize(std::min<std::size_t>(levels.size(), step.decode.draft_length));
  Answer marginals;
  int at = kRoot;
  if (options.heads && step.carry && step.carry->answer.find(step.carry->node, levels.front())) {
    marginals = step.carry->answer;
    at = step.carry->node;
  } else {
    Question question{.kind = Kind::draft,
                      .view = options.heads ? View::causal : View::bidirectional,
                      .nodes = {},
                      .asks = {{kRoot, levels}}};
    marginals = co_await step.ask(std::move(question), options.heads ? kTarget : kDraftModel);
  }
  // Behind a replacement there are laws of fewer positions.
  while (!marginals.find(at, levels.back())) levels.pop_back();

  Corrected told{.marginals = marginals, .at = at};
  Proposal proposal = grown(told, levels, options);
  for (std::int64_t i = 0; i < options.corrections; ++i) {
    Question question = what_follows(proposal, levels);
    if (question.asks.empty()) break;
    told.nodes = question.nodes;
    told.conditionals = co_await step.ask(std::move(question), kDraftModel);
    proposal = grown(told, levels, options);
  }
  if (options.drawn) proposal = drawn_in_shape(step, proposal);
  if (options.heads) proposal.lookahead = static_cast<int>(step.decode.draft_length);
  co_return proposal;
}

}  // namespace draftlab
