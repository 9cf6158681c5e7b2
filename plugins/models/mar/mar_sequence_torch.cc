#include "plugins/models/mar/mar_sequence_torch.h"

#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "plugins/models/nn/question_paths.h"

namespace draftlab {

std::vector<MarAsk> mar_asks(const Canvas& canvas, const Question& question, View view) {
  if (question.view != view) {
    throw ConfigError(view == View::causal ? "a causal mar was asked bidirectionally: it tells the "
                                             "next token of the raster, after a chain of drafts"
                                           : "a bidirectional mar was asked causally: it answers "
                                             "branches, a forward for every drafted state");
  }
  std::vector<MarAsk> asks;
  for (const Ask& ask : question.asks) {
    auto found = std::find_if(asks.begin(), asks.end(),
                              [&](const MarAsk& other) { return other.node == ask.node; });
    if (found == asks.end()) found = asks.insert(asks.end(), {ask.node, {}, 0});
    found->positions.insert(found->positions.end(), ask.positions.begin(), ask.positions.end());
  }
  std::erase_if(asks, [](const MarAsk& ask) { return ask.positions.empty(); });
  for (MarAsk& ask : asks) {
    std::size_t known = ask.positions.size();
    for (std::int32_t i = 1; i < canvas.length(); ++i) known += !canvas.masked(i);
    known += path_to(question.nodes, ask.node).size();
    const auto length = static_cast<std::size_t>(canvas.length() - 1);
    ask.known = static_cast<double>(std::min(known, length - 1)) / static_cast<double>(length);
  }
  return asks;
}

MarState mar_state(const Canvas& canvas, const Question& question, const MarAsk& ask) {
  std::vector<const Eigen::VectorXd*> values(static_cast<std::size_t>(canvas.length()), nullptr);
  for (std::int32_t i = 1; i < canvas.length(); ++i)
    if (!canvas.masked(i)) values[i] = &canvas.value(i);
  for (const int node : path_to(question.nodes, ask.node))
    values[question.nodes[node].position] = &question.nodes[node].value;
  MarState state{.label = canvas.token(0), .visible = {}, .asked = {}};
  for (std::int32_t i = 1; i < canvas.length(); ++i)
    if (values[i]) state.visible.push_back({i - 1, values[i]});
  for (const std::int32_t position : ask.positions) {
    if (position < 1 || position >= canvas.length() || values[position])
      throw Fault("position {} was asked, which is not masked there", position);
    state.asked.push_back(position - 1);
  }
  return state;
}

MarCausalSequence::MarCausalSequence(const Canvas& canvas, const MarConfig& mar,
                                     const TransformerConfig& config, bool guided)
    : Sequence(canvas), buffers_(mar.buffer_size), none_(static_cast<int>(mar.class_num)) {
  for (int i = 0; i < (guided ? 2 : 1); ++i)
    memories_.emplace_back(config, buffers_ + canvas.length());
}

MarCausalSequence::Plan MarCausalSequence::plan_for(const Question& question,
                                                    const std::vector<MarAsk>& asks) const {
  const std::vector<Node>& nodes = question.nodes;
  Plan plan{nodes, asks, {}, seen_nodes(nodes, asks), {}, {}, std::vector<Tip>(nodes.size())};
  plan.on_line.resize(nodes.size());
  for (std::int32_t i = 1; i < canvas.length() && !canvas.masked(i); ++i)
    plan.line.push_back(&canvas.value(i));
  plan.root.next = static_cast<std::int32_t>(plan.line.size());
  plan.root.limit = buffers_ + plan.root.next;
  int end = kRoot;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!plan.seen[i]) continue;
    Tip& tip = plan.tips[i] = plan.at(nodes[i].parent);
    if (nodes[i].position - 1 != tip.next) {
      throw Fault("position {} was drafted for a causal mar whose next position is {}",
                  nodes[i].position, tip.next + 1);
    }
    ++tip.next;
    if (nodes[i].parent != end) continue;
    plan.on_line[i] = 1;
    plan.line.push_back(&nodes[i].value);
    ++tip.limit;
    end = static_cast<int>(i);
  }
  for (const MarAsk& ask : asks) {
    for (const std::int32_t position : ask.positions) {
      if (position - 1 != plan.at(ask.node).next) {
        throw ConfigError(
            "position {} was asked of a causal mar, which tells position {} alone there", position,
            plan.at(ask.node).next + 1);
      }
    }
  }
  return plan;
}

// Adds the rows of the line that are not cached, or are asked. What was cached after the line
// stays, too, until something else takes its place.
void MarCausalSequence::add_line(const Plan& plan, std::vector<MarCausalRow>& rows) {
  const std::size_t count = plan.line.size();
  std::size_t same = 0;
  while (same < std::min(count, line_.size()) && line_[same] == *plan.line[same]) ++same;
  if (same < count) line_.resize(same);
  for (std::size_t place = same; place < count; ++place) line_.push_back(*plan.line[place]);

  // For each slot: the ask that it answers.
  std::vector<int> answers(buffers_ + count, MarCausalRow::kUnasked);
  for (std::size_t a = 0; a < plan.asks.size(); ++a) {
    const int node = plan.asks[a].node;
    if (node == kRoot || plan.on_line[node]) answers[plan.at(node).limit - 1] = static_cast<int>(a);
  }
  for (std::int64_t slot = 0; slot < buffers_ + static_cast<std::int64_t>(count); ++slot) {
    const std::int64_t place = slot - buffers_;
    const bool there = place < 0 ? filled_ : place < static_cast<std::int64_t>(same);
    if (there && answers[slot] == MarCausalRow::kUnasked) continue;
    rows.push_back({.memory = &memories_[0],
                    .label = canvas.token(0),
                    .place = static_cast<std::int32_t>(std::max<std::int64_t>(place, -1)),
                    .value = place < 0 ? nullptr : plan.line[place],
                    .slot = slot,
                    .limit = slot + 1,
                    .ask = answers[slot]});
  }
  filled_ = true;
}

// Adds the rows of the other paths, in slots above the line.
void MarCausalSequence::add_branches(Plan& plan, std::vector<MarCausalRow>& rows) {
  std::int64_t slots = buffers_ + static_cast<std::int64_t>(line_.size());
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    if (!plan.seen[i] || plan.on_line[i]) continue;
    const Node& node = plan.nodes[i];
    Tip& tip = plan.tips[i];
    tip.limit = plan.at(node.parent).limit;
    tip.extras = plan.at(node.parent).extras;
    tip.extras.push_back(static_cast<std::int32_t>(slots));
    rows.push_back({.memory = &memories_[0],
                    .label = canvas.token(0),
                    .place = node.position - 1,
                    .value = &node.value,
                    .slot = slots++,
                    .limit = tip.limit,
                    .extras = tip.extras});
    for (std::size_t a = 0; a < plan.asks.size(); ++a)
      if (plan.asks[a].node == static_cast<int>(i)) rows.back().ask = static_cast<int>(a);
  }
  for (RowMemory& memory : memories_) memory.reserve(slots);
}

std::vector<std::size_t> MarCausalSequence::add_rows(const Question& question,
                                                     const std::vector<MarAsk>& asks,
                                                     std::vector<MarCausalRow>& rows) {
  const std::size_t first = rows.size();
  Plan plan = plan_for(question, asks);
  add_line(plan, rows);
  add_branches(plan, rows);
  const std::size_t last = rows.size();
  std::vector<std::size_t> answered;
  for (std::size_t i = first; i < last; ++i) {
    if (rows[i].ask != MarCausalRow::kUnasked)
      answered.push_back(static_cast<std::size_t>(rows[i].ask));
    if (memories_.size() == 1) continue;
    rows.push_back(rows[i]);
    rows.back().memory = &memories_[1];
    rows.back().label = none_;
  }
  return answered;
}

}  // namespace draftlab
