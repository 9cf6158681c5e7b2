// A verifier of drafts that are vectors: each is judged by the ratio of its densities
// (vector_trial.h), given those before it or given the committed state alone.
#pragma once

#include <memory>
#include <vector>

#include "core/parts/verifier.h"
#include "plugins/verifiers/vector_trial.h"

namespace draftlab {

class DensityVerifier : public Verifier {
 public:
  // Throws ConfigError where options contradict one another. `other` is how a control departs from
  // the rules, or null.
  explicit DensityVerifier(const DensityOptions& options,
                           std::unique_ptr<const OtherRatio> other = nullptr);
  std::vector<Form> asks() const override { return {Form::committed, Form::reverse}; }
  Asking<Verdict> judge(const Step& step, const Proposal& proposal,
                        const Acceptance& acceptance) const override;

 private:
  // One judging: the drafts of the span, and behind which node each is asked about.
  struct Span;
  Question about(const Step& step, const Proposal& proposal, Span& span) const;
  Asking<Commit> bonus(const Step& step, const Proposal& proposal,
                       const Eigen::VectorXd& condition) const;

  DensityOptions options_;
  std::unique_ptr<const OtherRatio> other_;
};

}  // namespace draftlab
