// Answers shallow questions with a feature head (feature_head_torch.h). The head has a line of its
// own: its row of a token reads the target's feature of the token before, where that token is
// committed, and the head's own state of it where it is drafted. So drafts that follow drafts are
// computed in rounds, and what was drafted is computed again once it is committed. DFlash's layers
// have rows of the last committed token and of masks, all of them new in each question; what they
// remember are the keys and values of the target's features.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plugins/models/autoregressive/causal_rows_torch.h"
#include "plugins/models/nn/transformer/feature_head_torch.h"

namespace draftlab {

class FeatureRows;

// The target's sequence, and what the head remembers beside it.
class FeatureSequence final : public CausalSequence {
 public:
  FeatureSequence(const Canvas& canvas, const CausalRules& rules, const TransformerConfig& target,
                  const FeatureRows& head);
  // The rows of the source, whose encoder's output the head keeps.
  void add_source_rows(std::vector<MemoryRow>& rows) override;

 private:
  friend class FeatureRows;
  CausalSequence head_;
  // What the target's encoder put out, [d] a token of the source.
  std::vector<std::vector<float>> encoded_;
  // The tokens whose features have lent a block's layers keys and values, in the first slots.
  std::vector<Token> lent_;
  bool cached_;
  // The head's state of each of its slots.
  std::vector<std::vector<float>> states_;
  // The first so many slots of the head's line read states of the target.
  std::int64_t grounded_ = 0;
};

// A shallow question, whose target has the features that it needs.
struct FeatureQuestion {
  FeatureSequence* sequence = nullptr;
  const Question* question = nullptr;
  // The number of committed tokens of the line.
  std::int64_t committed = 0;
  // What is filled: where the answers stand (`row` is a slot of the head), and the number of rows.
  std::vector<HeadRow> answers = {};
  std::int64_t rows = 0;
};

class FeatureRows {
 public:
  // The target has so many tokens.
  FeatureRows(FeatureHead head, std::int64_t vocabulary, Precision precision);
  // A block may reach behind the canvas.
  void prepare(std::int64_t positions) { rows_.prepare(positions + shape_.block); }
  const TransformerConfig& config() const { return config_; }
  // Returns the layers of the target after which states are read; none: after the last norm.
  const std::vector<std::int64_t>& taps() const { return shape_.taps; }
  // Returns the number of first tokens that have no row beside a target with this canvas.
  std::int32_t skipped(const Canvas& canvas) const;
  // Answers all questions; round i computes the i-th draft behind what is known of each, or a block
  // of them at once.
  void answer(std::span<FeatureQuestion> questions, const TransformerRows& target) const;
  // Returns the head's state at which a question's answer stands.
  static const float* state(const FeatureQuestion& question, const HeadRow& answer) {
    return question.sequence->states_[answer.row].data();
  }
  // Returns the logits [rows, V] of such states, [rows, d].
  at::Tensor logits(std::span<const float> states, const TransformerRows& target) const;

 private:
  // A row of the head, the sequence it belongs to, and what it reads beside its token: a state, or
  // a feature of the target, of which a state is made first.
  struct Row {
    FeatureSequence* sequence;
    MemoryRow row;
    const float* reads;
    bool feature;
    std::size_t round;
  };
  void encode(FeatureSequence& sequence) const;
  void add_rows(FeatureQuestion& question, std::vector<Row>& rows) const;
  // The same for a block (feature_blocks_torch.cc): the rows that lend their states, and the
  // block's.
  void add_lent(FeatureQuestion& question, std::vector<Row>& rows) const;
  void add_block(FeatureQuestion& question, std::vector<Row>& rows) const;
  void answer_blocks(std::span<FeatureQuestion> questions, const TransformerRows& target) const;
  // Returns the states [rows, d] that rows read, features made into states, and all of them normed.
  at::Tensor states(std::span<Row* const> rows) const;
  // Returns the embeddings [rows, d] of their tokens, normed.
  at::Tensor embeddings(std::span<const MemoryRow> rows, const TransformerRows& target) const;
  void forward(std::span<Row* const> rows, const TransformerRows& target) const;

  std::int64_t vocabulary_;
  TransformerConfig config_;
  FeatureShape shape_;
  // The norms of embeddings, of states and before the vocabulary; undefined where there is none.
  at::Tensor embedding_norm_, state_norm_, output_norm_;
  // What a row reads where no token stands before it.
  std::vector<float> zeros_;
  // Those that there are.
  std::optional<RowLinear> fuse_, join_, output_;
  std::optional<RowEmbedding> embedding_;
  TransformerRows rows_;
};

}  // namespace draftlab
