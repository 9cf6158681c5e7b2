#include "plugins/models/autoregressive/feature_rows_torch.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>

#include <algorithm>
#include <limits>

#include "plugins/models/nn/kernels/decoder_kernels_torch.h"

namespace draftlab {

FeatureSequence::FeatureSequence(const Canvas& canvas, const CausalRules& rules,
                                 const TransformerConfig& target, const FeatureRows& head)
    : CausalSequence(canvas, rules, target),
      head_(canvas,
            {.cached = rules.cached,
             .layers = head.config().num_hidden_layers,
             .skipped = head.skipped(canvas)},
            head.config()),
      cached_(rules.cached) {}

void FeatureSequence::add_source_rows(std::vector<MemoryRow>& rows) {
  const std::size_t before = rows.size();
  CausalSequence::add_source_rows(rows);
  encoded_.resize(std::max(encoded_.size(), rows.size() - before));
  for (std::size_t i = before; i < rows.size(); ++i) {
    encoded_[i - before].resize(state_size());
    rows[i].layers.state = encoded_[i - before].data();
  }
}

FeatureRows::FeatureRows(FeatureHead head, std::int64_t vocabulary, Precision precision)
    : vocabulary_(vocabulary),
      config_(head.net.config),
      shape_(head.shape),
      embedding_norm_(head.embedding_norm),
      state_norm_(head.state_norm),
      output_norm_(head.output_norm),
      zeros_(static_cast<std::size_t>(head.read_width()), 0.0f),
      rows_(std::move(head.net), precision) {
  const auto packed = [&](const at::Tensor& weight, const at::Tensor& bias) {
    return weight.defined() ? std::optional(RowLinear(weight, bias, precision)) : std::nullopt;
  };
  fuse_ = packed(head.fuse, {});
  join_ = packed(head.join, head.join_bias);
  output_ = packed(head.output, {});
  if (head.embedding.defined()) embedding_.emplace(head.embedding, at::Tensor(), precision);
}

std::int32_t FeatureRows::skipped(const Canvas& canvas) const {
  const bool encoder = config_.num_encoder_layers > 0;
  return !shape_.first_row && !encoder && canvas.length() > 1 && canvas.given(1) ? 1 : 0;
}

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
  // A slot of the head is so many slots of the target further on.
  const std::int64_t apart = sequence.head_.start() - sequence.start(),
                     committed = question.committed - apart;
  // What was a draft when the head read it may be committed now.
  if (sequence.grounded_ != committed)
    sequence.head_.forget(std::min(sequence.grounded_, committed));
  sequence.grounded_ = committed;
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
    sequence.states_[slot].resize(static_cast<std::size_t>(config_.hidden_size));
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
    const bool grounded = line && row.slot < committed;
    const float* reads = zeros_.data();
    std::size_t round = 1;
    if (grounded && before + apart >= 0) {
      reads = sequence.feature(before + apart);
    } else if (!grounded) {
      reads = sequence.states_[before].data();
      if (before < static_cast<std::int64_t>(round_of.size())) round = round_of[before] + 1;
    }
    round_of[row.slot] = round;
    // Of a token that is committed the next one's law is known, unless it is the last.
    row.asked = !line || row.slot + 1 >= committed;
    rows.push_back({&sequence, std::move(row), reads, grounded, round});
  }
}

at::Tensor FeatureRows::states(std::span<Row* const> rows) const {
  const auto d = config_.hidden_size, width = static_cast<std::int64_t>(zeros_.size());
  at::Tensor all = at::empty({static_cast<std::int64_t>(rows.size()), d});
  float* const to = all.data_ptr<float>();
  // Which rows read a feature that is not yet a state, and what they read.
  std::vector<std::size_t> raw;
  std::vector<float> read;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (fuse_ && rows[i]->feature) {
      raw.push_back(i);
      read.insert(read.end(), rows[i]->reads, rows[i]->reads + width);
    } else {
      std::copy_n(rows[i]->reads, d, to + static_cast<std::int64_t>(i) * d);
    }
  }
  if (!raw.empty()) {
    const auto many = static_cast<std::int64_t>(raw.size());
    const auto fused = room(many * d);
    fuse_->apply(read.data(), many, fused.get());
    for (std::int64_t i = 0; i < many; ++i)
      std::copy_n(fused.get() + i * d, d, to + static_cast<std::int64_t>(raw[i]) * d);
  }
  return rms_norm(all, state_norm_, config_.rms_norm_eps, at::kFloat);
}

at::Tensor FeatureRows::embeddings(std::span<const MemoryRow> rows,
                                   const TransformerRows& target) const {
  const std::int64_t d = config_.hidden_size;
  const at::Tensor all = at::empty({static_cast<std::int64_t>(rows.size()), d});
  float* to = all.data_ptr<float>();
  if (!embedding_) target.embed(rows, to);
  for (std::size_t i = 0; embedding_ && i < rows.size(); ++i, to += d)
    embedding_->write(rows[i].token, {}, to);
  return rms_norm(all, embedding_norm_, config_.rms_norm_eps, at::kFloat);
}

void FeatureRows::forward(std::span<Row* const> rows, const TransformerRows& target) const {
  const std::int64_t d = config_.hidden_size;
  const auto count = static_cast<std::int64_t>(rows.size());
  std::vector<MemoryRow> moved;
  for (Row* const row : rows) moved.push_back(std::move(row->row));
  const at::Tensor read = states(rows), embedded = embeddings(moved, target);
  at::Tensor enters = read;
  if (join_) {
    const at::Tensor pairs = at::cat({embedded, read}, -1);
    enters = at::empty({count, d});
    join_->apply(pairs.data_ptr<float>(), count, enters.data_ptr<float>());
  }
  for (std::int64_t i = 0; i < count; ++i) {
    moved[i].token = kNoToken;
    moved[i].layers.from = 0;
    moved[i].layers.state = enters.data_ptr<float>() + i * d;
    moved[i].beside = embedded.data_ptr<float>() + i * d;
  }
  const at::Tensor left = rows_.forward(moved);
  const float* next = left.data_ptr<float>();
  for (std::int64_t i = 0; i < count; ++i) {
    if (!moved[i].asked) continue;
    std::copy_n(next, d, rows[i]->sequence->states_[moved[i].slot].data());
    next += d;
  }
}

at::Tensor FeatureRows::logits(std::span<const float> states, const TransformerRows& target) const {
  const std::int64_t d = config_.hidden_size, count = static_cast<std::int64_t>(states.size()) / d;
  const at::Tensor given = at::from_blob(const_cast<float*>(states.data()), {count, d});
  const at::Tensor normed = rms_norm(given, output_norm_, config_.rms_norm_eps, at::kFloat);
  if (!output_) return target.logits(normed.data_ptr<float>(), count);
  const auto known = static_cast<std::int64_t>(shape_.tokens.size());
  const at::Tensor own = at::empty({count, known > 0 ? known : vocabulary_});
  output_->apply(normed.data_ptr<float>(), count, own.data_ptr<float>());
  if (known == 0) return own;
  at::Tensor all = at::full({count, vocabulary_}, -std::numeric_limits<float>::infinity());
  for (std::int64_t row = 0; row < count; ++row)
    for (std::int64_t i = 0; i < known; ++i)
      all.data_ptr<float>()[row * vocabulary_ + shape_.tokens[i]] =
          own.data_ptr<float>()[row * known + i];
  return all;
}

void FeatureRows::answer(std::span<FeatureQuestion> questions,
                         const TransformerRows& target) const {
  if (shape_.block > 0) return answer_blocks(questions, target);
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
