// Acceptance by depth: how often a draft at this depth was accepted, and how often it was once the
// walk had come so far.
#include <algorithm>

#include "analysis/figures/bins.h"
#include "analysis/figures/figures.h"
#include "core/base/error.h"

namespace draftlab {
namespace {

constexpr std::size_t kDeepest = 64;

}  // namespace

Picture acceptance_figure(const PlotData& data) {
  Bins rate(data.series(), kDeepest), conditional(data.series(), kDeepest);
  each_draft(data, {"step_span"}, {"draft_accepted"}, [&](const ShownDraft& draft) {
    const double span = draft.of_step(1), verdict = draft.of_draft(1);
    const auto depth = static_cast<std::size_t>(draft.of_draft(0));
    if (depth >= kDeepest || (span > 0 && draft.of_draft(0) >= span)) return;
    const Bins::Place at{draft.sample.series, depth, draft.sample.prompt};
    rate.add(at, verdict == 1);
    if (verdict >= 0) conditional.add(at, verdict == 1);
  });
  if (conditional.empty())
    throw DataError(
        "the figure 'acceptance' needs judged drafts, and the traces hold none; decode with "
        "trace.drafts = all and a verifier");
  std::vector<double> depths;
  for (std::size_t depth = 0; depth < kDeepest; ++depth)
    depths.push_back(static_cast<double>(depth + 1));
  std::size_t deepest = 0;
  for (std::size_t depth = 0; depth < kDeepest; ++depth) {
    for (std::size_t series = 0; series < data.series(); ++series)
      if (!rate.empty(series, depth)) deepest = depth + 1;
  }
  const std::string axes = AxisRange().commands('y', true, 5) +
                           "set xrange [0.7:" + std::to_string(deepest) + ".3]\n" +
                           count_tics(deepest);
  return curve_figure(
      data, {.name = "acceptance",
             .panels = {{&rate, "acceptance_rate.dat", "accepted, of those drafted",
                         "depth of the draft", "share", axes},
                        {&conditional, "acceptance_conditional.dat", "accepted, of those reached",
                         "depth of the draft", "share", axes}},
             .x = depths,
             .note = "Verified steps only. Depth 1 is the first draft of a step; with "
                     "self-drafting it is the target's own draw and always accepted. "});
}

}  // namespace draftlab
