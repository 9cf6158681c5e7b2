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
  each_shown(data,
             {{"step_verified", "step_span"}, Table::draft, {"draft_depth", "draft_accepted"}},
             [&](const ShownSample& sample) {
               const auto &steps = sample.block.steps, &rows = sample.block.rows;
               for (std::int64_t s = sample.begin; s < sample.end; ++s) {
                 const double span = steps[1][s];
                 if (steps[0][s] == 0) continue;
                 for (auto d = sample.block.row_begin[s]; d < sample.block.row_begin[s + 1]; ++d) {
                   const auto depth = static_cast<std::size_t>(rows[0][d]);
                   if (depth >= kDeepest || (span > 0 && rows[0][d] >= span)) continue;
                   const bool accepted = rows[1][d] == 1;
                   rate.add(sample.series, depth, sample.prompt, accepted);
                   if (rows[1][d] >= 0)
                     conditional.add(sample.series, depth, sample.prompt, accepted);
                 }
               }
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
  return curve_figure(data, "acceptance",
                      {{&rate, "acceptance_rate.dat", "accepted, of those drafted",
                        "depth of the draft", "share", axes},
                       {&conditional, "acceptance_conditional.dat", "accepted, of those reached",
                        "depth of the draft", "share", axes}},
                      depths,
                      "Verified steps only. Depth 1 is the first draft of a step; with "
                      "self-drafting it is the target's own draw and always accepted. ");
}

}  // namespace draftlab
