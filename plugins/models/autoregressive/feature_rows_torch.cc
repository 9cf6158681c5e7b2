#include "plugins/models/autoregressive/feature_rows_torch.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>

#include "plugins/models/nn/kernels/decoder_kernels_torch.h"

namespace draftlab {

FeatureSequence::FeatureSequence(const Canvas& canvas, const CausalRules& rules,
                                 const TransformerConfig& target, const TransformerConfig& head)
    : CausalSequence(canvas, rules, target),
      head_(canvas, {.cached = rules.cached, .layers = head.num_hidden_layers}, head) {}

void FeatureSequence::add_source_rows(std::vector<MemoryRow>& rows) {
  const std::size_t before = rows.size();
  CausalSequence::add_source_rows(rows);
  encoded_.resize(std::max(encoded_.size(), rows.size() - before));
  for (std::size_t i = before; i < rows.size(); ++i) {
    encoded_[i - before].resize(state_size());
    rows[i].layers.state = encoded_[i - before].data();
  }
}

FeatureRows::FeatureRows(FeatureHead head, Precision precision)
    : config_(head.net.config),
      embedding_norm_(head.embedding_norm),
      zeros_(static_cast<std::size_t>(config_.hidden_size), 0.0f),
      join_(head.join, head.join_bias, precision),
      rows_(std::move(head.net), precision) {}

// Lets the head's layer attend what the target's encoder put out.
void FeatureRows::encode(FeatureSequence& sequence) const {
  std::vector<MemoryRow> rows;
  sequence.head_.add_source_rows(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].token = kNoToken;
    rows[i].layers.state = sequence.encoded_[i].data();
  }
  if (!rows.empty()) rows_.encode(rows);
}

void FeatureRows::add_rows(FeatureQuestion& question, std::vector<Row>& rows) const {
  FeatureSequence& sequence = *question.sequence;
  // What was a draft when the head read it may be committed now.
  if (sequence.grounded_ != question.committed)
    sequence.head_.forget(std::min(sequence.grounded_, question.committed));
  sequence.grounded_ = question.committed;
  Question own = *question.question;
  own.shallow = false;
  std::vector<MemoryRow> added;
  sequence.head_.add_rows(own, added, question.answers);
  for (HeadRow& answer : question.answers)
    answer.row = static_cast<std::size_t>(added[answer.row].slot);
  question.rows = static_cast<std::int64_t>(added.size());

  // For each slot that is computed now: its round, counted from 1.
  std::vector<std::size_t> round_of;
  for (MemoryRow& row : added) {
    const auto slot = static_cast<std::size_t>(row.slot);
    if (sequence.states_.size() <= slot) sequence.states_.resize(slot + 1);
    sequence.states_[slot].resize(zeros_.size());
    if (round_of.size() <= slot) round_of.resize(slot + 1, 0);
  }
  for (MemoryRow& row : added) {
    // The slot of the token before.
    std::int64_t before = row.slot - 1;
    if (row.extras.size() > 1)
      before = row.extras[row.extras.size() - 2];
    else if (row.extras.size() == 1)
      before = row.limit - 1;
    const bool line = row.extras.empty();
    const bool grounded = line && row.slot < question.committed;
    const float* reads = zeros_.data();
    std::size_t round = 1;
    if (grounded && before >= 0) {
      reads = sequence.feature(before);
    } else if (!grounded) {
      reads = sequence.states_[before].data();
      if (before < static_cast<std::int64_t>(round_of.size())) round = round_of[before] + 1;
    }
    round_of[row.slot] = round;
    // Of a token that is committed the next one's law is known, unless it is the last.
    row.asked = !line || row.slot + 1 >= question.committed;
    rows.push_back({&sequence, std::move(row), reads, round});
  }
}

void FeatureRows::forward(std::span<Row* const> rows, const TransformerRows& target) const {
  const std::int64_t d = config_.hidden_size;
  const auto count = static_cast<std::int64_t>(rows.size());
  std::vector<MemoryRow> moved;
  for (Row* const row : rows) moved.push_back(std::move(row->row));
  std::vector<float> embedded(count * d), pairs(count * 2 * d), joined(count * d);
  target.embed(moved, embedded.data());
  const at::Tensor normed = rms_norm(at::from_blob(embedded.data(), {count, d}), embedding_norm_,
                                     config_.rms_norm_eps, at::kFloat);
  for (std::int64_t i = 0; i < count; ++i) {
    std::copy_n(normed.data_ptr<float>() + i * d, d, pairs.data() + i * 2 * d);
    std::copy_n(rows[i]->reads, d, pairs.data() + (2 * i + 1) * d);
  }
  join_.apply(pairs.data(), count, joined.data());
  for (std::int64_t i = 0; i < count; ++i) {
    moved[i].token = kNoToken;
    moved[i].layers.from = 0;
    moved[i].layers.state = joined.data() + i * d;
  }
  const at::Tensor states = rows_.forward(moved);
  const float* next = states.data_ptr<float>();
  for (std::int64_t i = 0; i < count; ++i) {
    if (!moved[i].asked) continue;
    std::copy_n(next, d, rows[i]->sequence->states_[moved[i].slot].data());
    next += d;
  }
}

void FeatureRows::answer(std::span<FeatureQuestion> questions,
                         const TransformerRows& target) const {
  std::vector<Row> rows;
  for (FeatureQuestion& question : questions) {
    encode(*question.sequence);
    add_rows(question, rows);
  }
  std::size_t last = 0;
  for (const Row& row : rows) last = std::max(last, row.round);
  for (std::size_t round = 1; round <= last; ++round) {
    std::vector<Row*> some;
    for (Row& row : rows)
      if (row.round == round) some.push_back(&row);
    if (!some.empty()) forward(some, target);
  }
}

}  // namespace draftlab
