#include "plugins/drafters/one_by_one.h"

#include <algorithm>

#include "core/parts/draft_length.h"

namespace draftlab {

void OneByOneOptions::declare(OptionSet& set) {
  set.add("children", &children).in(1, 64).help("Drafts sampled at each node (SpecInfer) ...");
  set.add("wide", &wide)
      .in(0, 4096)
      .help("... of so many levels, and one behind them; 0: of all levels.");
}

Asking<Proposal> draft_one_by_one(const Step& step, const OneByOneOptions& options, int model,
                                  bool shallow) {
  const auto& window = step.window.positions;
  const auto levels = std::min<std::size_t>(window.size(), step.decode.draft_length);
  Proposal proposal;
  std::vector<int> front = {kRoot};  // The nodes that are drafted on.
  for (std::size_t level = 0; level < levels && !front.empty(); ++level) {
    const std::int32_t position = window[level];
    Question question{.kind = Kind::draft,
                      .view = View::causal,
                      .nodes = proposal.nodes,
                      .asks = {},
                      .shallow = shallow};
    for (const int node : front) question.asks.push_back({node, {position}});
    const Answer answer = co_await step.ask(std::move(question), model);

    const bool wide = options.wide == 0 || static_cast<std::int64_t>(level) < options.wide;
    const std::int64_t children = wide ? options.children : 1;
    std::vector<int> grown;
    std::uint32_t attempt = 0;
    for (const int node : front) {
      const Distribution& raw = answer.at(node, position);
      const Distribution drawn = step.drawn(raw);
      const Distribution& read = step.decode.reads == Reads::drawn ? drawn : raw;
      if (step.length && level > 0 && step.length->ends_before(read)) continue;
      for (std::int64_t child = 0; child < children; ++child) {
        const Token token = step.chance.draw(drawn, step.site(position, Purpose::draft, attempt++));
        if (!step.length || !step.length->ends_after(token, read))
          grown.push_back(static_cast<int>(proposal.nodes.size()));
        proposal.nodes.push_back({node, position, token});
        proposal.drawn_from.push_back(drawn);
        proposal.raw.push_back(raw);
      }
    }
    front = std::move(grown);
  }
  co_return proposal;
}

}  // namespace draftlab
