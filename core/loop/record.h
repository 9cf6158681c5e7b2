// Computes what a step leaves in its row.
#pragma once

#include <Eigen/Core>

#include "core/loop/arm.h"
#include "core/loop/rows.h"
#include "core/parts/proposal.h"
#include "core/parts/route.h"
#include "core/parts/step_view.h"
#include "core/parts/verdict.h"
#include "core/parts/window.h"

namespace draftlab {

// What estimators and rows read of each draft. Summaries come from the distributions that the
// proposal names for it (Step::readings) where it has any, else from what was drawn from; a point
// mass without either says nothing.
class DraftNumbers {
 public:
  explicit DraftNumbers(const Proposal& proposal);
  // The probability of the drafted token.
  NumbersView confidence() const { return column(0); }
  NumbersView margin() const { return column(1); }
  // The entropy in nats.
  NumbersView entropy() const { return column(2); }
  NumbersView renyi2() const { return column(3); }
  // What the trajectories of vector drafts show (TrajectoryNumbers); empty where drafts are ids.
  NumbersView spread() const { return vectors_ ? column(4) : NumbersView(); }
  NumbersView surprise() const { return vectors_ ? column(5) : NumbersView(); }
  NumbersView deviation() const { return vectors_ ? column(6) : NumbersView(); }

 private:
  NumbersView column(Eigen::Index index) const {
    return {numbers_.col(index).data(), numbers_.rows()};
  }
  Eigen::Array<double, Eigen::Dynamic, 7> numbers_;
  bool vectors_;
};

// A step that was made: everything that its row tells.
struct MadeStep {
  const Window& window;
  const Proposal& proposal;
  const DraftNumbers& numbers;
  const Route& route;
  const Verdict& verdict;
};

// Fills what `row` says of the verdict, of the drafts (each with its most probable tokens and
// limits as far as `wanted` says) and of the tokens that were written.
void record(const MadeStep& made, const Recording& wanted, StepRow& row);

}  // namespace draftlab
