// What the router decided, over the steps of a block, or of a decode that has no blocks.
#include <algorithm>

#include "analysis/figures/bins.h"
#include "analysis/figures/figures.h"
#include "core/base/error.h"

namespace draftlab {
namespace {

constexpr std::size_t kPartsWithoutBlocks = 20;  // The parts of a decode without blocks.
constexpr std::size_t kSteps = 40;               // The most steps of a block that are shown.

}  // namespace

Picture router_figure(const PlotData& data) {
  double blocks = 0;
  data.frame.walk({"step_block"}, [&](const Frame::Block& block) {
    for (double b : block.steps[0]) blocks = std::max(blocks, b);
  });
  const std::size_t n = data.series(), parts = blocks > 0 ? kSteps : kPartsWithoutBlocks;
  Bins verified(n, parts), span(n, parts), score(n, parts);
  each_shown(data, {{"step_verified", "step_span", "step_score", "step_block", "step_routed"}},
             [&](const ShownSample& sample) {
               const auto& columns = sample.block.steps;
               const auto count = static_cast<double>(sample.end - sample.begin);
               std::size_t in_block = 0;
               for (std::int64_t s = sample.begin; s < sample.end; ++s) {
                 const bool goes_on = s > sample.begin && columns[3][s] == columns[3][s - 1];
                 in_block = goes_on ? in_block + 1 : 0;
                 const double done = (static_cast<double>(s - sample.begin) + 0.5) / count;
                 const std::size_t part =
                     blocks > 0 ? in_block : static_cast<std::size_t>(done * kPartsWithoutBlocks);
                 if (part >= parts) continue;
                 const double routed =
                     columns[4][s];  // A shadow verifies where the router would not have.
                 const Bins::Place at{sample.series, part, sample.prompt};
                 verified.add(at, routed >= 0 ? routed : columns[0][s]);
                 span.add(at, columns[1][s]);
                 if (const double x = columns[2][s]; x == x) score.add(at, x);
               }
             });
  if (verified.empty())
    throw DataError("the figure 'router' needs steps, and the traces hold none");
  std::vector<double> x;
  for (std::size_t part = 0; part < parts; ++part)
    x.push_back(blocks > 0 ? static_cast<double>(part + 1)
                           : (static_cast<double>(part) + 0.5) / kPartsWithoutBlocks);
  std::size_t last = 0;
  for (std::size_t part = 0; part < parts; ++part)
    for (std::size_t s = 0; s < n; ++s)
      if (!verified.empty(s, part)) last = part + 1;
  const std::string label = blocks > 0 ? "step in the block" : "share of the steps done";
  const std::string x_axis =
      blocks > 0
          ? "unset logscale x\nset xrange [0.5:" + std::to_string(last) + ".5]\n" + count_tics(last)
          : AxisRange().commands('x', true, 5);
  const std::string open = x_axis + "unset logscale y\nset ytics auto\n";
  std::vector<CurvePanel> panels = {
      {&verified, "router_verified.dat", "steps routed to the verifier", label, "share",
       x_axis + AxisRange().commands('y', true, 5)},
      {&span, "router_span.dat", "span that may be judged", label, "tokens",
       open + "set yrange [0:*]\n"}};
  if (!score.empty())
    panels.push_back({&score, "router_score.dat", "score of the router", label, "score",
                      open + "set yrange [*:*]\n", "0 with lines lc rgb '#888888' dt 2"});
  return curve_figure(data, {.name = "router",
                             .panels = panels,
                             .x = x,
                             .note = score.empty() ? "No router here computes a score. " : ""});
}

}  // namespace draftlab
