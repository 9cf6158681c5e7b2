#include "plugins/models/masked_diffusion/masked_rows_torch.h"

#include <algorithm>
#include <limits>
#include <string>

#include "core/base/error.h"
#include "plugins/models/masked_diffusion/noise_level.h"
#include "plugins/models/nn/question_paths.h"

namespace draftlab {

MaskedSequence::MaskedSequence(const Canvas& canvas, const Blocks& blocks, const CacheRules& rules,
                               const TransformerConfig& config)
    : Sequence(canvas),
      blocks_(blocks),
      rules_(rules),
      cache_(config, rules.cache == CanvasCache::none ? 0 : canvas.length()) {}

// Returns the first position that is masked or may still be edited, and the last one when none is.
std::int32_t MaskedSequence::open() const {
  std::int32_t position = 0;
  while (position + 1 < canvas.length() && !canvas.masked(position) && !canvas.tentative(position))
    ++position;
  return position;
}

bool MaskedSequence::stale() const {
  if (seen_.empty() || canvas.committed() < committed_) return true;
  const Region current = region(open());
  for (std::int32_t i = 0; i < canvas.length(); ++i) {
    const bool contradicted = seen_[i] != rules_.mask && seen_[i] != canvas.token(i);
    if (contradicted && (i < current.begin || i >= current.end)) return true;
  }
  if (rules_.refresh > 0) return canvas.committed() - committed_ >= rules_.refresh;
  return blocks_.index(open()) != blocks_.index(anchor_);
}

int MaskedSequence::horizon() const {
  constexpr int kUnlimited = std::numeric_limits<int>::max();
  if (!cached()) return kUnlimited;
  const bool now = stale();
  if (now && rules_.ride == DraftsInRefresh::none) return 0;
  if (rules_.cross) return kUnlimited;
  if (rules_.refresh > 0)
    return static_cast<int>(rules_.refresh) - 1 - (now ? 0 : canvas.committed() - committed_);
  const std::int32_t at = open(), end = blocks_.end(at, canvas.length());
  int masked = 0;
  for (std::int32_t i = blocks_.first(at); i < end; ++i) masked += canvas.masked(i);
  return end == canvas.length() ? kUnlimited : std::max(0, masked - 1);
}

// Drafts that ride in the forward that refreshes come from what was asked before it.
bool MaskedSequence::spent() const {
  return cached() && rules_.ride == DraftsInRefresh::none && !stale() && horizon() == 0;
}

std::string MaskedSequence::state() const {
  std::string key;
  for (const Token token : seen_) key += std::to_string(token) + " ";
  return key.empty() ? key : key + std::to_string(committed_);
}

// Returns the states at which something is asked, in the order of the asks, each once.
std::vector<MaskedSequence::State> MaskedSequence::states(std::span<const Node> nodes,
                                                          const std::vector<Ask>& asks) const {
  const int deepest = horizon();
  std::vector<State> states;
  for (const Ask& ask : asks) {
    auto found = std::find_if(states.begin(), states.end(),
                              [&](const State& state) { return state.node == ask.node; });
    if (found == states.end()) {
      State state{.node = ask.node, .tokens = canvas.tokens(), .positions = {}};
      const std::vector<int> path = path_to(nodes, ask.node);
      const auto depth = static_cast<int>(path.size());
      for (const int node : path) state.tokens[nodes[node].position] = nodes[node].token;
      if (depth > deepest) {
        throw Fault(
            "a state of {} drafted tokens was asked, but the cache is refreshed after {} "
            "(Sequence::horizon)",
            depth, deepest);
      }
      const auto length = canvas.length();
      while (state.open + 1 < length && state.tokens[state.open] != kNoToken &&
             !canvas.tentative(state.open))
        ++state.open;
      state.noise =
          noise_level(std::count(state.tokens.begin(), state.tokens.end(), kNoToken), length);
      for (std::int32_t i = 0; i < length; ++i)
        if (state.tokens[i] == kNoToken)
          state.tokens[i] = rules_.mask == kNoToken ? canvas.shown(i) : rules_.mask;
      found = states.insert(states.end(), std::move(state));
    }
    found->positions.insert(found->positions.end(), ask.positions.begin(), ask.positions.end());
  }
  return states;
}

MaskedSequence::Region MaskedSequence::region(std::int32_t open) const {
  const std::int32_t length = canvas.length();
  if (rules_.cache == CanvasCache::none) return {0, length};
  return {anchor_, rules_.cache == CanvasCache::prefix ? length : blocks_.end(open, length)};
}

void MaskedSequence::add(const State& state, const Place& place, std::vector<MemoryRow>& rows,
                         std::vector<AskedRow>& answers) const {
  const auto first = rows.size();
  const Region region = place.region;
  const std::int32_t size = region.end - region.begin;
  const auto add_row = [&](std::int32_t position, std::int64_t slot) {
    rows.push_back({.memory = &place.memory,
                    .position = position,
                    .token = state.tokens[position],
                    .slot = slot,
                    .limit = size,
                    .noise = state.noise,
                    .outside = place.outside});
  };
  for (std::int32_t i = region.begin; i < region.end; ++i) add_row(i, i - region.begin);
  // A row outside of the region is asked over what the region's rows see; no other row sees it.
  for (const std::int32_t position : state.positions) {
    const std::int32_t from = rules_.shifted ? position - 1 : position;
    if (from < 0)
      throw Fault("a right-shifted model was asked for the first position of the canvas");
    std::size_t row = first + static_cast<std::size_t>(from - region.begin);
    if (from < region.begin || from >= region.end) {
      row = first + static_cast<std::size_t>(size);
      while (row < rows.size() && rows[row].position != from) ++row;
      const auto slot = static_cast<std::int64_t>(row - first);
      if (row == rows.size()) {
        place.memory.reserve(slot + 1);
        add_row(from, slot);
      }
    }
    rows[row].asked = true;
    answers.push_back({state.node, position, row});
  }
}

std::int64_t MaskedSequence::add_rows(const Question& question, ScratchMemories& scratch,
                                      std::vector<MemoryRow>& rows,
                                      std::vector<AskedRow>& answers) {
  if (question.form() == Form::chain)
    throw Fault(
        "masked-diffusion has no causal view: it judges drafts as branches, in the bidirectional "
        "one");
  std::vector<State> asked = states(question.nodes, question.asks);
  const std::int32_t length = canvas.length();
  const bool refreshing = cached() && stale();
  if (refreshing) {
    // The committed state is computed whole, asked or not.
    if (std::none_of(asked.begin(), asked.end(),
                     [](const State& state) { return state.node == kRoot; }))
      asked.push_back(states({}, {{kRoot, {}}}).front());
    seen_ = states({}, {{kRoot, {}}}).front().tokens;
    anchor_ = blocks_.first(open());
    committed_ = canvas.committed();
  }
  for (const State& state : asked) {
    const bool whole = refreshing && (state.node == kRoot || rules_.ride == DraftsInRefresh::own);
    const Region fresh = whole ? Region{0, length} : region(state.open);
    RowMemory& memory =
        refreshing && state.node == kRoot ? cache_ : scratch.take(fresh.end - fresh.begin);
    Outside outside;
    if (cached() && !whole)
      outside = {.memory = &cache_, .limit = fresh.begin, .from = fresh.end, .end = length};
    add(state, {fresh, memory, outside}, rows, answers);
  }
  return static_cast<std::int64_t>(asked.size());
}

}  // namespace draftlab
