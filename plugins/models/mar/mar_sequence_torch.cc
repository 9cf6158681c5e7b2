#include "plugins/models/mar/mar_sequence_torch.h"

#include <algorithm>
#include <string>

#include "core/base/error.h"

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
    for (int node = ask.node; node != kRoot; node = question.nodes[node].parent) ++known;
    const auto length = static_cast<std::size_t>(canvas.length() - 1);
    ask.known = static_cast<double>(std::min(known, length - 1)) / static_cast<double>(length);
  }
  return asks;
}

MarState mar_state(const Canvas& canvas, const Question& question, const MarAsk& ask) {
  std::vector<const Eigen::VectorXd*> values(static_cast<std::size_t>(canvas.length()), nullptr);
  for (std::int32_t i = 1; i < canvas.length(); ++i)
    if (!canvas.masked(i)) values[i] = &canvas.value(i);
  for (int node = ask.node; node != kRoot; node = question.nodes[node].parent)
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

MarCausalSequence::MarCausalSequence(const Canvas& canvas, const TransformerConfig& config,
                                     std::int64_t buffers, int classes, bool guided)
    : Sequence(canvas), buffers_(buffers), none_(classes) {
  for (int i = 0; i < (guided ? 2 : 1); ++i)
    memories_.emplace_back(config, buffers + canvas.length());
}

void MarCausalSequence::add_rows(const Question& question, const std::vector<MarAsk>& asks,
                                 std::vector<MarCausalRow>& rows, std::vector<std::size_t>& tips) {
  const std::vector<Node>& nodes = question.nodes;
  // The state at a node: the slots that are seen there, and the place that comes next.
  struct Tip {
    std::int64_t limit = 0;
    std::vector<std::int32_t> extras = {};
    std::int32_t next = 0;
  };
  // The line: what is committed, then always the first child.
  std::vector<const Eigen::VectorXd*> wanted;
  while (static_cast<std::int32_t>(wanted.size()) + 1 < canvas.length() &&
         !canvas.masked(static_cast<std::int32_t>(wanted.size()) + 1)) {
    wanted.push_back(&canvas.value(static_cast<std::int32_t>(wanted.size()) + 1));
  }
  std::vector<char> needed(nodes.size(), 0), on_line(nodes.size(), 0);
  for (const MarAsk& ask : asks)
    for (int node = ask.node; node != kRoot && !needed[node]; node = nodes[node].parent)
      needed[node] = 1;
  Tip root{.limit = buffers_ + static_cast<std::int64_t>(wanted.size()),
           .next = static_cast<std::int32_t>(wanted.size())};
  std::vector<Tip> placed(nodes.size());
  const auto tip_at = [&](int node) -> Tip& { return node == kRoot ? root : placed[node]; };
  int end = kRoot;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!needed[i]) continue;
    const Tip& parent = tip_at(nodes[i].parent);
    if (nodes[i].position - 1 != parent.next) {
      throw Fault("position {} was drafted for a causal mar whose next position is {}",
                  nodes[i].position, parent.next + 1);
    }
    placed[i] = parent;
    ++placed[i].next;
    if (nodes[i].parent != end) continue;
    on_line[i] = 1;
    wanted.push_back(&nodes[i].value);
    ++placed[i].limit;
    end = static_cast<int>(i);
  }
  for (const MarAsk& ask : asks) {
    for (const std::int32_t position : ask.positions) {
      if (position - 1 != tip_at(ask.node).next) {
        throw ConfigError(
            "position {} was asked of a causal mar, which tells position {} alone there", position,
            tip_at(ask.node).next + 1);
      }
    }
  }

  // Finds what of the line is there already. What follows it stays, too, until something else takes
  // its place.
  const std::size_t first = rows.size(), count = wanted.size();
  std::size_t same = 0;
  while (same < std::min(count, line_.size()) && line_[same] == *wanted[same]) ++same;
  if (same < count) line_.resize(same);
  for (std::size_t place = same; place < count; ++place) line_.push_back(*wanted[place]);
  std::int64_t slots = buffers_ + static_cast<std::int64_t>(line_.size());

  // Returns the ask that a slot of the line answers.
  const auto asked_at = [&](std::int64_t slot) {
    for (std::size_t a = 0; a < asks.size(); ++a) {
      if ((asks[a].node == kRoot || on_line[asks[a].node]) &&
          tip_at(asks[a].node).limit == slot + 1)
        return a;
    }
    return asks.size();
  };
  const auto add = [&](std::int32_t place, const Eigen::VectorXd* value, std::int64_t slot,
                       std::int64_t limit, std::vector<std::int32_t> extras, std::size_t answers) {
    rows.push_back({.memory = &memories_[0],
                    .label = canvas.token(0),
                    .place = place,
                    .value = value,
                    .slot = slot,
                    .limit = limit,
                    .extras = std::move(extras),
                    .asked = answers < asks.size()});
    if (answers < asks.size()) tips.push_back(answers);
  };
  for (std::int64_t slot = 0; slot < buffers_ + static_cast<std::int64_t>(count); ++slot) {
    const bool buffer = slot < buffers_,
               there = buffer ? filled_ > 0 : slot < buffers_ + static_cast<std::int64_t>(same);
    const std::size_t answers = asked_at(slot);
    if (there && answers == asks.size()) continue;
    add(buffer ? -1 : static_cast<std::int32_t>(slot - buffers_),
        buffer ? nullptr : wanted[slot - buffers_], slot, slot + 1, {}, answers);
  }
  filled_ = buffers_;

  // The other paths are computed in slots above the line.
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!needed[i] || on_line[i]) continue;
    const Tip& parent = tip_at(nodes[i].parent);
    placed[i].limit = parent.limit;
    placed[i].extras = parent.extras;
    placed[i].extras.push_back(static_cast<std::int32_t>(slots));
    const auto answers =
        std::find_if(asks.begin(), asks.end(),
                     [&](const MarAsk& ask) { return ask.node == static_cast<int>(i); }) -
        asks.begin();
    add(nodes[i].position - 1, &nodes[i].value, slots++, placed[i].limit, placed[i].extras,
        static_cast<std::size_t>(answers));
  }
  for (RowMemory& memory : memories_) memory.reserve(slots);
  if (memories_.size() == 1) return;
  const std::size_t last = rows.size();
  for (std::size_t i = first; i < last; ++i) {
    MarCausalRow row = rows[i];
    row.memory = &memories_[1];
    row.label = none_;
    rows.push_back(std::move(row));
  }
}

}  // namespace draftlab
