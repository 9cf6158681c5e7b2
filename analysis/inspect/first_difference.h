// Finds the first place where two decodes of one prompt differ, for `draftlab rerun`.
#pragma once

#include <string>

#include "core/loop/rows.h"
#include "core/trace/trace_options.h"

namespace draftlab {

struct Difference {
  // The first thing that is another, as "step 4: draft 2 stood at 17 with token 812, and stands at
  // 17 with token 44"; empty where both decodes decided alike.
  std::string what;
  // The most by which a probability of the drafts and tokens before that place differs.
  double numbers = 0;
};

// Compares what a trace holds of a sample with the same sample decoded again, step by step, in the
// order in which a step decides: its window, drafts, route, verdict, tokens and evaluations.
// `recorded` says which drafts the trace holds.
Difference first_difference(const SampleRow& stored, const SampleRow& again,
                            RecordedDrafts recorded);

}  // namespace draftlab
