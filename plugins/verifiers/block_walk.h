// The walk of block and traversal verification over a tree of drafts: leaves come first, a node is
// accepted together with the path to it, and one that is not lowers the weight of its parent.
#pragma once

#include <memory>

#include "core/parts/verifier.h"

namespace draftlab {

// The numbers of the walk. A node has a weight: the probability with which it is accepted, given
// the drafts up to it. The exact rule stands here, and controls depart from it
// (plugins/controls/block_mistakes.cc).
struct BlockRule {
  virtual ~BlockRule() = default;
  // The weight of a draft of probability p under what is left of the target, and q under what it
  // was drawn from, where its parent has `weight`.
  virtual double of_draft(double weight, double p, double q) const {
    return weight * p >= q ? 1 : weight * p / q;
  }
  // The weight, which was below 1, of a node whose next draft is rejected; `mass` is the sum of
  // max(weight p - q, 0).
  virtual double of_rest(double weight, double mass) const {
    return mass > 0 ? mass / (mass + 1 - weight) : 0;
  }
  // The weight in the residual max(weight p - q, 0), which is drawn from behind such a node.
  virtual double in_residual(double weight) const { return weight; }
  // Whether a node is tested before the drafts behind it are.
  virtual bool from_front() const { return false; }
};

// A verifier that judges by the walk, with numbers of its own.
class BlockVerifier : public Verifier {
 public:
  BlockVerifier(bool bonus, std::unique_ptr<const BlockRule> rule)
      : bonus_(bonus), rule_(std::move(rule)) {}
  std::vector<Form> asks() const override { return {Form::chain}; }
  bool has_own_rule() const override { return true; }
  bool judges_paths() const override { return true; }
  // Throws ConfigError where noise is shared.
  void begin(const Blocks&, const DecodeOptions& decode) override;
  Asking<Verdict> judge(const Step& step, const Proposal& proposal,
                        const Acceptance&) const override;

 private:
  bool bonus_;
  std::unique_ptr<const BlockRule> rule_;
};

}  // namespace draftlab
