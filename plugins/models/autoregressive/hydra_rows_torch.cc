#include "plugins/models/autoregressive/hydra_rows_torch.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace draftlab {

HydraRows::HydraRows(const HydraHeads& heads, std::int64_t width, Precision precision)
    : width_(static_cast<std::size_t>(width)),
      filter_(static_cast<std::size_t>(heads.filter)),
      zeros_(width_, 0.0f) {
  for (const HydraHeads::Head& head : heads.heads)
    heads_.push_back({RowLinear(head.hidden, head.hidden_bias, precision),
                      RowLinear(head.project, head.project_bias, precision)});
}

std::vector<HydraAsk> HydraRows::asks(const HydraQuestion& question) const {
  const CausalSequence& sequence = *question.sequence;
  const std::vector<Node>& nodes = question.question->nodes;
  const auto last = sequence.start() + static_cast<std::int32_t>(question.committed) - 1;
  const float* const state =
      question.committed > 1 ? sequence.feature(question.committed - 2) : zeros_.data();
  std::vector<HydraAsk> asks;
  for (const Ask& ask : question.question->asks) {
    for (const std::int32_t position : ask.positions) {
      if (position <= last)
        throw Fault("position {} was asked of Hydra's heads, but is committed", position);
      const auto count = static_cast<std::size_t>(position - last);
      HydraAsk read{ask.node, position, state, std::vector<Token>(count, kNoToken)};
      for (std::int32_t i = last; i < position; ++i)
        if (!sequence.canvas.masked(i)) read.tokens[i - last] = sequence.canvas.token(i);
      for (int node = ask.node; node != kRoot; node = nodes[node].parent)
        if (nodes[node].position < position)
          read.tokens[nodes[node].position - last] = nodes[node].token;
      if (std::count(read.tokens.begin(), read.tokens.end(), kNoToken) > 0)
        throw ConfigError(
            "a shallow question asks about position {} before the tokens that precede it are "
            "drafted: Hydra's heads tell the next token alone",
            position);
      if (count > heads_.size())
        throw ConfigError(
            "a shallow question asks behind {} drafts, but model.autoregressive.hydra_heads has "
            "{} heads: decode.draft_length must not exceed them",
            count - 1, heads_.size());
      asks.push_back(std::move(read));
    }
  }
  return asks;
}

std::vector<float> HydraRows::states(std::span<const HydraAsk> asks,
                                     const TransformerRows& target) const {
  std::vector<float> states(asks.size() * width_);
  for (std::size_t head = 0; head < heads_.size(); ++head) {
    std::vector<std::size_t> its;
    std::vector<MemoryRow> tokens;
    for (std::size_t i = 0; i < asks.size(); ++i) {
      if (asks[i].head() != head) continue;
      its.push_back(i);
      for (const Token token : asks[i].tokens) tokens.push_back({.token = token});
    }
    if (its.empty()) continue;
    std::vector<float> embedded(tokens.size() * width_);
    target.embed(tokens, embedded.data());

    const std::size_t beside = (head + 1) * width_;
    std::vector<float> read(its.size() * (width_ + beside)), inside(its.size() * filter_),
        added(its.size() * width_);
    for (std::size_t i = 0; i < its.size(); ++i) {
      float* const row = read.data() + i * (width_ + beside);
      std::copy_n(asks[its[i]].state, width_, row);
      std::copy_n(embedded.data() + i * beside, beside, row + width_);
    }
    const auto rows = static_cast<std::int64_t>(its.size());
    heads_[head].hidden.apply(read.data(), rows, inside.data());
    for (float& x : inside) x = x / (1 + std::exp(-x));
    heads_[head].project.apply(inside.data(), rows, added.data());
    for (std::size_t i = 0; i < its.size(); ++i)
      for (std::size_t j = 0; j < width_; ++j)
        states[its[i] * width_ + j] = asks[its[i]].state[j] + added[i * width_ + j];
  }
  return states;
}

}  // namespace draftlab
