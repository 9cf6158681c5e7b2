#include "plugins/drafters/one_by_one.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/parts/draft_length.h"

namespace draftlab {

void OneByOneOptions::declare(OptionSet& set) {
  set.add("children", &children)
      .in(1, 64)
      .help("Drafts sampled at each node that branches (SpecInfer).");
  set.add("wide", &wide)
      .in(0, 4096)
      .help("Number of levels that branch; deeper levels draft one token. 0: all levels branch.");
  set.add("siblings", &siblings)
      .help(
          "The drafts of a node: each drawn; drawn without replacement (Sequoia); or one draw, and "
          "the most probable other tokens surely (greedy multi-draft).");
  set.add("shape", &shape)
      .help(
          "Instead of children and wide: the number of drafts behind the root, then behind each "
          "draft, level by level, such as \"2 1 0 1\"; what is left out is 0.");
}

TreeShape OneByOneOptions::tree() const {
  if (shape.empty()) return {children, wide};
  if (children != 1 || wide != 0)
    throw ConfigError(
        "shape = {} says how many drafts each node has; children and wide must not be set beside "
        "it",
        shape);
  return TreeShape(shape);
}

std::vector<DrawnDraft> siblings_of(const Step& step, const Distribution& law, std::int64_t count,
                                    const SiblingDraws& draws) {
  const std::int32_t position = step.window.positions[draws.level];
  std::uint32_t attempt = draws.attempt;
  std::vector<DrawnDraft> drafts;
  const auto draw = [&](const Distribution& from) {
    const bool shares = drafts.empty() && step.decode.noise != Noise::own;
    const Token token =
        shares ? step.draw(from, position, static_cast<int>(draws.level), Purpose::draft)
               : step.chance.draw(from, step.site(position, Purpose::draft, attempt));
    ++attempt;
    drafts.push_back({token, from});
  };
  if (draws.siblings == Siblings::independent || count == 1) {
    for (std::int64_t i = 0; i < count; ++i) draw(law);
    return drafts;
  }
  Eigen::ArrayXd left = law.probabilities();
  if (draws.siblings == Siblings::different) {
    for (std::int64_t i = 0; i < count && left.sum() > 0; ++i) {
      draw(i == 0 ? law : Distribution(left));
      left[drafts.back().token] = 0;
    }
    return drafts;
  }
  // The draw stands first: so tested, the drafts are accepted as often as any rule can accept them.
  std::vector<Token> sure = law.best(static_cast<int>(count) - 1);
  std::erase_if(sure, [&](Token token) { return law.probability(token) <= 0; });
  for (const Token token : sure) left[token] = 0;
  if (left.sum() > 0) draw(Distribution(left));
  for (const Token token : sure) drafts.push_back({token, Distribution::point(token, law.size())});
  return drafts;
}

Asking<Proposal> draft_one_by_one(const Step& step, const OneByOneOptions& options, int model,
                                  bool shallow) {
  const auto& window = step.window.positions;
  const auto levels = step.most_drafts();
  const TreeShape shape = options.tree();
  Proposal proposal;
  // A node that is drafted on, and its place in the shape.
  struct Open {
    int node;
    TreeShape::Place place;
  };
  std::vector<Open> front = {{kRoot, shape.root()}};
  for (std::size_t level = 0; level < levels; ++level) {
    std::erase_if(front, [&](const Open& open) { return shape.children(open.place) == 0; });
    if (front.empty()) break;
    const std::int32_t position = window[level];
    Question question{.kind = Kind::draft,
                      .view = View::causal,
                      .nodes = proposal.nodes,
                      .asks = {},
                      .shallow = shallow};
    for (const Open& open : front) question.asks.push_back({open.node, {position}});
    const Answer answer = co_await step.ask(std::move(question), model);

    std::vector<Open> grown;
    std::uint32_t attempt = 0;
    for (const Open& open : front) {
      const Distribution& raw = answer.at(open.node, position);
      const Distribution drawn = step.drawn(raw);
      const Distribution& read = step.decode.reads == Reads::drawn ? drawn : raw;
      if (step.length && level > 0 && step.length->ends_before(read)) continue;
      const std::int64_t count = shape.children(open.place);
      const std::vector<DrawnDraft> drafts =
          siblings_of(step, drawn, count, {options.siblings, level, attempt});
      attempt += static_cast<std::uint32_t>(count);
      for (std::size_t i = 0; i < drafts.size(); ++i) {
        if (!step.length || !step.length->ends_after(drafts[i].token, read))
          grown.push_back({static_cast<int>(proposal.nodes.size()), shape.child(open.place, i)});
        proposal.nodes.push_back({open.node, position, drafts[i].token});
        proposal.drawn_from.push_back(drafts[i].drawn_from);
        proposal.raw.push_back(raw);
      }
    }
    front = std::move(grown);
  }
  co_return proposal;
}

}  // namespace draftlab
