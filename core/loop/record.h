// What a step leaves in the trace.
#pragma once

#include <Eigen/Core>

#include "core/parts/parts.h"
#include "core/trace/rows.h"

namespace draftlab {

// What estimators and the trace read of each draft. Summaries come from the model's own
// distribution (temperature 1) where the drafter has one, else from what was drawn from; a point
// mass without either says nothing.
class DraftNumbers {
 public:
  using Column = Eigen::Map<const Eigen::ArrayXd>;
  explicit DraftNumbers(const Proposal& proposal);
  Column confidence() const { return column(0); }  // probability of the drafted token
  Column margin() const { return column(1); }
  Column entropy() const { return column(2); }  // nats
  Column renyi2() const { return column(3); }

 private:
  Column column(Eigen::Index index) const { return {numbers_.col(index).data(), numbers_.rows()}; }
  Eigen::ArrayX4d numbers_;
};

// Fills what `row` says of the verdict, its drafts (each with its `top_k` most probable tokens) and
// the tokens that were written.
void record(const Window& window, const Proposal& proposal, const DraftNumbers& numbers,
            const Route& route, const Verdict& verdict, int top_k, StepRow& row);

}  // namespace draftlab
