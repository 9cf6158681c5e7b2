#include "plugins/models/autoregressive/causal_rows_torch.h"

#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "plugins/models/nn/question_paths.h"

namespace draftlab {

CausalSequence::CausalSequence(const Canvas& canvas, const CausalRules& rules,
                               const TransformerConfig& config)
    : Sequence(canvas),
      rules_(rules),
      state_size_(static_cast<std::size_t>(config.hidden_size)),
      start_(rules.skipped),
      memory_(config, canvas.length() + 16) {
  if (canvas.length() == 0 || canvas.masked(0))
    throw ConfigError("a causal model needs a prompt token at position 0");
  if (config.num_encoder_layers == 0) return;
  while (source_ < canvas.length() && canvas.given(source_)) ++source_;
  if (source_ == 0)
    throw ConfigError(
        "a model with an encoder needs a prompt that begins at position 0: it is the source");
  start_ = source_ - 1;  // The decoder begins with the source's last token.
  encoder_memory_.emplace(config, config.num_encoder_layers, source_);
  source_memory_.emplace(config, source_);
}

void CausalSequence::add_source_rows(std::vector<MemoryRow>& rows) {
  if (!source_memory_ || (encoded_ && rules_.cached)) return;
  encoded_ = true;
  for (std::int32_t i = 0; i < source_; ++i) {
    rows.push_back({.memory = &*encoder_memory_,
                    .position = i,
                    .token = canvas.token(i),
                    .slot = i,
                    .limit = source_,
                    .source = &*source_memory_});
  }
}

// Appends the committed tokens from position `next` on, up to the first masked one.
void CausalSequence::append(std::vector<Token>& tokens, std::int32_t& next) const {
  for (; next < canvas.length() && !canvas.masked(next); ++next)
    tokens.push_back(canvas.token(next));
}

MemoryRow CausalSequence::row_at(std::int64_t slot, std::int32_t position, Token token,
                                 const Tip& tip) {
  MemoryRow row{.memory = &memory_,
                .position = position - start_,
                .token = token,
                .slot = slot,
                .limit = tip.limit,
                .extras = tip.extras};
  if (source_memory_) {
    row.source = &*source_memory_;
    row.source_rows = source_;
  }
  return row;
}

MemoryRow CausalSequence::row(std::int64_t slot, std::int32_t position, Token token) {
  memory_.reserve(slot + 1);
  return row_at(slot, position, token, {});
}

std::vector<std::size_t> CausalSequence::add_line_rows(const std::vector<Token>& wanted,
                                                       const std::vector<char>& asked,
                                                       std::int64_t depth,
                                                       std::vector<MemoryRow>& rows) {
  const auto count = static_cast<std::int64_t>(wanted.size());
  std::int64_t same = 0;
  while (same < std::min<std::int64_t>(count, cached()) && line_[same].token == wanted[same])
    ++same;
  if (same < count) line_.resize(same);
  line_.resize(std::max<std::int64_t>(count, cached()));
  memory_.reserve(cached());

  std::vector<std::size_t> row_of(count, kNoRow);
  for (std::int64_t slot = 0; slot < count; ++slot) {
    Slot& own = line_[slot];
    if (own.depth >= depth && !asked[slot]) continue;
    own.token = wanted[slot];
    MemoryRow row =
        row_at(slot, start_ + static_cast<std::int32_t>(slot), own.token, {.limit = slot + 1});
    row.layers.from = own.state.empty() ? 0 : rules_.exit;
    row.layers.until = depth;
    if (own.state.empty() && depth < rules_.layers) own.state.resize(state_size_);
    row.layers.state = own.state.data();
    if (rules_.feature > 0) {
      own.feature.resize(rules_.feature);
      row.feature = own.feature.data();
    }
    own.depth = std::max(own.depth, depth);
    row_of[slot] = rows.size();
    rows.push_back(std::move(row));
  }
  return row_of;
}

std::int64_t CausalSequence::add_feature_rows(std::vector<MemoryRow>& rows) {
  if (!rules_.cached) line_.clear();
  std::vector<Token> tokens;
  std::int32_t next = start_;
  append(tokens, next);
  const auto committed = static_cast<std::int64_t>(tokens.size());
  tokens.pop_back();
  add_line_rows(tokens, std::vector<char>(tokens.size(), 0), rules_.layers, rows);
  return committed;
}

void CausalSequence::check(const Question& question) const {
  if (question.view != View::causal)
    throw ConfigError(
        "a causal model was asked bidirectionally: model = autoregressive goes with drafters that "
        "ask causally (self, stepwise, ...)");
  if (question.shallow && rules_.exit == 0)
    throw ConfigError(
        "a shallow question was asked, but model.autoregressive.exit_layers is 0: it says how many "
        "layers answer those; or feature_head or hydra_heads names heads that do");
}

void CausalSequence::Plan::check_place(const Node& node) {
  if (node.position != at(node.parent).next)
    throw Fault("position {} was drafted for a causal model whose next position is {}",
                node.position, at(node.parent).next);
}

CausalSequence::Plan CausalSequence::plan_for(const Question& question) const {
  const std::vector<Node>& nodes = question.nodes;
  Plan plan{.question = question,
            .depth = question.shallow ? rules_.exit : rules_.layers,
            .line = {},
            .seen = seen_nodes(nodes, question.asks),
            .on_line = std::vector<char>(nodes.size(), 0),
            .root = {.next = start_},
            .tips = std::vector<Tip>(nodes.size())};
  append(plan.line, plan.root.next);
  plan.root.limit = static_cast<std::int64_t>(plan.line.size());
  int end = kRoot;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!plan.seen[i] || nodes[i].parent != end) continue;
    plan.check_place(nodes[i]);
    plan.on_line[i] = 1;
    plan.line.push_back(nodes[i].token);
    plan.tips[i].next = nodes[i].position + 1;
    append(plan.line, plan.tips[i].next);
    plan.tips[i].limit = static_cast<std::int64_t>(plan.line.size());
    end = static_cast<int>(i);
  }
  return plan;
}

void CausalSequence::add_line(Plan& plan, std::vector<MemoryRow>& rows) {
  // For each slot of the line: whether it is asked.
  std::vector<char> asked(plan.line.size(), 0);
  for (const Ask& ask : plan.question.asks)
    if (!ask.positions.empty() && (ask.node == kRoot || plan.on_line[ask.node]))
      asked[plan.at(ask.node).limit - 1] = 1;
  const std::vector<std::size_t> row_of = add_line_rows(plan.line, asked, plan.depth, rows);
  plan.root.row = row_of[plan.root.limit - 1];
  for (std::size_t i = 0; i < plan.tips.size(); ++i)
    if (plan.on_line[i]) plan.tips[i].row = row_of[plan.tips[i].limit - 1];
}

// Adds the rows of the other paths, in slots above the line.
void CausalSequence::add_branches(Plan& plan, std::vector<MemoryRow>& rows) {
  std::int64_t slots = cached();
  for (std::size_t i = 0; i < plan.tips.size(); ++i) {
    if (!plan.seen[i] || plan.on_line[i]) continue;
    const Node& node = plan.question.nodes[i];
    plan.check_place(node);
    Tip& tip = plan.tips[i] = plan.at(node.parent);
    std::vector<Token> tokens{node.token};
    std::int32_t position = tip.next++;
    append(tokens, tip.next);
    for (const Token token : tokens) {
      tip.extras.push_back(static_cast<std::int32_t>(slots));
      tip.row = rows.size();
      rows.push_back(row_at(slots++, position++, token, tip));
      rows.back().layers.until = plan.depth;
    }
    memory_.reserve(slots);
  }
}

// Marks the rows that answer, and says where the answers will stand.
void CausalSequence::ask(Plan& plan, std::vector<MemoryRow>& rows,
                         std::vector<HeadRow>& answers) const {
  for (const Ask& ask : plan.question.asks) {
    const Tip& tip = plan.at(ask.node);
    for (const std::int32_t position : ask.positions) {
      const std::int32_t head = position - tip.next;
      if (head < 0)
        throw Fault("position {} was asked at a token that follows it, or is no longer masked",
                    position);
      if (head >= rules_.heads) {
        throw ConfigError(
            "a question asks {} positions ahead of a token, but the model answers {}: "
            "decode.draft_length must not exceed the checkpoint's prediction heads "
            "(model.autoregressive.heads)",
            head + 1, rules_.heads);
      }
      rows[tip.row].asked = true;
      rows[tip.row].ahead = std::max(rows[tip.row].ahead, head);
      answers.push_back({ask.node, position, tip.row, head});
    }
  }
}

void CausalSequence::add_rows(const Question& question, std::vector<MemoryRow>& rows,
                              std::vector<HeadRow>& answers) {
  if (question.asks.empty()) return;
  check(question);
  if (!rules_.cached) line_.clear();
  Plan plan = plan_for(question);
  add_line(plan, rows);
  add_branches(plan, rows);
  ask(plan, rows, answers);
}

}  // namespace draftlab
