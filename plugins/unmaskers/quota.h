// What `static`, `threshold` and `entropy-bound` share: decoding a block in S steps makes each step
// owe a number of tokens, and a verified step that commits fewer is topped up from the drafts that
// are left.
#pragma once

#include <string>
#include <vector>

#include "core/parts/unmasker.h"

namespace draftlab {

class QuotaUnmasker : public Unmasker {
 public:
  void begin(const Blocks& blocks, const DecodeOptions& decode) final;
  Verdict choose(const Step& step, const Proposal& proposal) const final;
  Verdict top_up(const Step& step, const Proposal& proposal, Verdict verdict) const final;
  int preview(const Step& step, const Proposal& proposal) const final;
  void observe(const Canvas& canvas, const Route& route, const Verdict& verdict) final;
  std::string state() const final;

 protected:
  // A draft that may be committed.
  struct Draft {
    std::int32_t position = 0;
    const Node* node = nullptr;  // of the proposal
    double confidence = 1;  // probability of the token; 1 where the drafter gave no distribution
    double peak = 1;        // largest probability of the position, whichever token was drafted
    double margin = 1;      // largest less second largest
    double entropy = 0;     // nats
  };
  // Puts `drafts`, which come most confident first and by position among equals, in the order in
  // which they would be committed; how many of them are sure enough to be, whatever the quota.
  virtual int sure(const DecodeOptions& decode, std::vector<Draft>& drafts) const = 0;
  // How many of `drafts` the step must commit, the leading ones; may put them in another order.
  virtual int quota(const Step& step, std::vector<Draft>& drafts) const;

  std::int64_t steps() const { return steps_; }
  std::int64_t made(const Step& step) const {
    return step.window.block == block_ ? step_ : 0;
  }  // steps of the block so far

 private:
  std::vector<Draft> drafts(const Step& step, const Proposal& proposal,
                            const Verdict& committed) const;

  Blocks blocks_;
  std::int64_t steps_ = 0;    // S; 0: one token a step
  int block_ = 0, step_ = 0;  // how many steps were made in which block
};

}  // namespace draftlab
