// What all unmaskers but `one` and `all` share. Decoding a block in S steps
// makes each step owe a number of tokens, its quota, and a verified step that commits fewer is
// topped up from the drafts that are left.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/parts/unmasker.h"

namespace draftlab {

class QuotaUnmasker : public Unmasker {
 public:
  void begin(const Blocks& blocks, const DecodeOptions& decode) final;
  Verdict choose(const Step& step, const Proposal& proposal) const final;
  Verdict top_up(const Step& step, const Proposal& proposal, Verdict verdict) const override;
  int preview(const Step& step, const Proposal& proposal) const final;
  // One that learns more than the steps of the block calls these two as well.
  void observe(const Canvas& canvas, const Route& route, const Verdict& verdict) override;
  std::string state() const override;

 protected:
  // A draft that may be committed.
  struct Draft {
    std::int32_t position = 0;
    // The node of the proposal.
    const Node* node = nullptr;
    // The probability of the token; 1 where the drafter gave no distribution.
    double confidence = 1;
    // The largest probability of the position, whichever token was drafted.
    double peak = 1;
    // The largest minus the second largest probability.
    double margin = 1;
    // The entropy in nats.
    double entropy = 0;
    // What these numbers are read from; nullptr where the drafter gave no distribution.
    const Distribution* read = nullptr;
  };
  // Puts `drafts`, which come most confident first and by position among equals, in the order in
  // which they would be committed; how many of them are sure enough to be, whatever the quota.
  virtual int sure(const Step& step, std::vector<Draft>& drafts) const = 0;
  // Returns how many of `drafts` the step must commit, taken from the front; it may put them in
  // another order.
  virtual int quota(const Step& step, std::vector<Draft>& drafts) const;
  // Returns the tokens that a step with these commits takes back; only for an unmasker that
  // `takes_back`.
  virtual std::vector<Commit> taken_back(const Step&, const Proposal&,
                                         const std::vector<Commit>& /*commits*/) const {
    return {};
  }
  // Returns the drafts of the window that are not committed yet, as `sure` wants them.
  std::vector<Draft> drafts(const Step& step, const Proposal& proposal,
                            const Verdict& committed) const;

  // Returns the tentative tokens of the window's block, which may be taken back.
  std::vector<Commit> tentative(const Step& step) const;
  // Returns the confidence of each commit, NaN where the drafter gave no distribution.
  static std::vector<double> confidences(const Proposal& proposal,
                                         const std::vector<Commit>& commits);

  // Puts the drafts with the largest key first, and the leftmost among equals.
  template <class Key>
  static void largest_first(std::vector<Draft>& drafts, Key key) {
    std::sort(drafts.begin(), drafts.end(), [&](const Draft& a, const Draft& b) {
      const double of_a = key(a), of_b = key(b);
      return of_a != of_b ? of_a > of_b : a.position < b.position;
    });
  }

  // Calls visit(position, distribution) with what the model answered of each draft of the step.
  template <class Visit>
  static void each_answer(const Verdict& verdict, Visit visit) {
    if (!verdict.proposal) return;
    const Proposal& proposal = *verdict.proposal;
    const std::vector<Distribution>& read =
        proposal.raw.empty() ? proposal.drawn_from : proposal.raw;
    for (std::size_t i = 0; i < read.size(); ++i) visit(proposal.nodes[i].position, read[i]);
  }

  // Which step of which block was made last, as `state` tells it where it matters.
  std::string counted() const { return std::to_string(block_) + "/" + std::to_string(step_); }
  const Blocks& blocks() const { return blocks_; }
  std::int64_t steps() const { return steps_; }
  // Counts the steps of the block so far.
  std::int64_t made(const Step& step) const { return step.window.block == block_ ? step_ : 0; }

 private:
  Blocks blocks_;
  // Returns how many drafts to take from the front: those that are sure, and as many others as are
  // owed, from the window's first block before the blocks behind it.
  int take(const Step& step, std::vector<Draft>& drafts, int certain, int owed) const;
  // The number S of steps of a block; 0 stands for one token a step.
  std::int64_t steps_ = 0;
  // How many steps were made in which block.
  int block_ = 0, step_ = 0;
};

}  // namespace draftlab
