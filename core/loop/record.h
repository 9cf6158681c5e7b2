// Computes what a step leaves in the trace.
#pragma once

#include <Eigen/Core>

#include "core/parts/proposal.h"
#include "core/parts/route.h"
#include "core/parts/step_view.h"
#include "core/parts/verdict.h"
#include "core/parts/window.h"
#include "core/trace/rows.h"
#include "core/trace/trace_options.h"

namespace draftlab {

// What estimators and the trace read of each draft. Summaries come from the distributions that the
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

 private:
  NumbersView column(Eigen::Index index) const {
    return {numbers_.col(index).data(), numbers_.rows()};
  }
  Eigen::ArrayX4d numbers_;
};

// Fills what `row` says of the verdict, of the drafts (each with its most probable tokens and
// limits as far as `options` want them) and of the tokens that were written.
void record(const Window& window, const Proposal& proposal, const DraftNumbers& numbers,
            const Route& route, const Verdict& verdict, const TraceOptions& options, StepRow& row);

}  // namespace draftlab
