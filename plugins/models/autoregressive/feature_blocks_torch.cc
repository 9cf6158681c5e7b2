// How FeatureRows answers a block of positions at once, by DFlash's layers.
#include <ATen/core/Tensor.h>

#include <algorithm>

#include "core/base/error.h"
#include "plugins/models/autoregressive/feature_rows_torch.h"

namespace draftlab {

void FeatureRows::add_lent(FeatureQuestion& question, std::vector<Row>& rows) const {
  FeatureSequence& sequence = *question.sequence;
  std::vector<Token>& lent = sequence.lent_;
  if (!sequence.cached_) lent.clear();
  const auto lenders = static_cast<std::size_t>(question.committed - 1);
  std::vector<Token> tokens;
  for (std::size_t slot = 0; slot < lenders; ++slot)
    tokens.push_back(sequence.canvas.token(sequence.start() + static_cast<std::int32_t>(slot)));
  const auto known = static_cast<std::size_t>(
      std::mismatch(lent.begin(), lent.begin() + std::min(lent.size(), lenders), tokens.begin())
          .first -
      lent.begin());
  for (std::size_t slot = known; slot < lenders; ++slot) {
    const std::int32_t position = sequence.start() + static_cast<std::int32_t>(slot);
    const auto place = static_cast<std::int64_t>(slot);
    rows.push_back({&sequence, sequence.head_.row(place, position, tokens[slot]),
                    sequence.feature(place), true, 0});
  }
  lent = std::move(tokens);
}

void FeatureRows::add_block(FeatureQuestion& question, std::vector<Row>& rows) const {
  FeatureSequence& sequence = *question.sequence;
  const std::int64_t first = question.committed - 1;
  const auto last = sequence.start() + static_cast<std::int32_t>(first);
  const std::size_t before = rows.size();
  for (std::int64_t i = 0; i < shape_.block; ++i) {
    const std::int32_t position = last + static_cast<std::int32_t>(i);
    const bool open = position >= sequence.canvas.length() || sequence.canvas.masked(position);
    const Token token = open ? shape_.mask : sequence.canvas.token(position);
    rows.push_back({&sequence, sequence.head_.row(first + i, position, token), nullptr, false, 1});
    rows.back().row.limit = first + shape_.block;
  }
  sequence.states_.resize(std::max<std::size_t>(sequence.states_.size(), first + shape_.block));
  for (const Ask& ask : question.question->asks) {
    for (const std::int32_t position : ask.positions) {
      const std::int32_t ahead = position - last;
      if (ask.node != kRoot || ahead < 1)
        throw ConfigError(
            "a shallow question asks behind drafts, but model.autoregressive.feature_head answers "
            "a "
            "block at once: drafter = at-once with guide = shallow goes with it");
      if (ahead >= shape_.block)
        throw ConfigError(
            "a shallow question asks {} positions ahead, but a block of "
            "model.autoregressive.feature_head tells {}: decode.draft_length must not exceed them",
            ahead, shape_.block - 1);
      const auto slot = static_cast<std::size_t>(first + ahead);
      rows[before + static_cast<std::size_t>(ahead)].row.asked = true;
      sequence.states_[slot].resize(static_cast<std::size_t>(config_.hidden_size));
      question.answers.push_back({ask.node, position, slot, 0});
    }
  }
}

void FeatureRows::answer_blocks(std::span<FeatureQuestion> questions,
                                const TransformerRows& target) const {
  const std::int64_t d = config_.hidden_size;
  std::vector<Row> lenders, block;
  for (FeatureQuestion& question : questions) {
    encode(*question.sequence);
    const std::size_t before = lenders.size() + block.size();
    add_lent(question, lenders);
    add_block(question, block);
    question.rows = static_cast<std::int64_t>(lenders.size() + block.size() - before);
  }
  std::vector<Row*> lending;
  for (Row& row : lenders) lending.push_back(&row);
  if (!lending.empty()) {
    const at::Tensor lent = states(lending);
    std::vector<MemoryRow> moved;
    for (Row& row : lenders) moved.push_back(std::move(row.row));
    for (std::size_t i = 0; i < moved.size(); ++i)
      moved[i].layers.state = lent.data_ptr<float>() + static_cast<std::int64_t>(i) * d;
    rows_.lend(moved);
  }
  std::vector<MemoryRow> moved;
  for (Row& row : block) moved.push_back(std::move(row.row));
  const at::Tensor embedded = embeddings(moved, target);
  for (std::size_t i = 0; i < moved.size(); ++i) {
    moved[i].token = kNoToken;
    moved[i].layers.state = embedded.data_ptr<float>() + static_cast<std::int64_t>(i) * d;
  }
  const at::Tensor left = rows_.forward(moved);
  const float* next = left.data_ptr<float>();
  for (std::size_t i = 0; i < moved.size(); ++i) {
    if (!moved[i].asked) continue;
    std::copy_n(next, d, block[i].sequence->states_[moved[i].slot].data());
    next += d;
  }
}

}  // namespace draftlab
