// Acceptance over the course of a decode (CSpD, Figure 11): how often a judged draft was accepted,
// by how much stood before it.
#include <algorithm>

#include "analysis/figures/bins.h"
#include "analysis/figures/figures.h"
#include "core/base/error.h"

namespace draftlab {
namespace {

constexpr std::size_t kMost = 64;

}  // namespace

Picture progress_figure(const PlotData& data) {
  const std::vector<double> generated = data.frame.numbers("sample_generated");
  double longest = 1;
  for (const double tokens : generated) longest = std::max(longest, tokens);
  const std::size_t parts = std::min(kMost, static_cast<std::size_t>(longest));
  Bins accepted(data.series(), parts);
  each_shown(
      data,
      {{"step_verified", "step_masked", "step_exact"},
       Table::draft,
       {"draft_depth", "draft_accepted"}},
      [&](const ShownSample& sample) {
        const auto &steps = sample.block.steps, &rows = sample.block.rows;
        const double all = generated[static_cast<std::size_t>(sample.block.samples[sample.place])];
        for (std::int64_t s = sample.begin; s < sample.end; ++s) {
          if (steps[0][s] == 0) continue;
          for (auto d = sample.block.row_begin[s]; d < sample.block.row_begin[s + 1]; ++d) {
            const double depth = rows[0][d], before = all - steps[1][s] + depth;
            if (rows[1][d] < 0 || depth < steps[2][s] || before < 0 || before >= all) continue;
            const auto part = static_cast<std::size_t>(before / all * static_cast<double>(parts));
            accepted.add(sample.series, part, sample.prompt, rows[1][d] == 1);
          }
        }
      });
  if (accepted.empty())
    throw DataError(
        "the figure 'progress' needs judged drafts, and the traces hold none; decode with "
        "trace.drafts = all and a verifier");
  std::vector<double> shares;
  for (std::size_t part = 0; part < parts; ++part)
    shares.push_back((static_cast<double>(part) + 0.5) / static_cast<double>(parts));
  const std::string axes = AxisRange().commands('x', true, 5) + AxisRange().commands('y', true, 5);
  return curve_figure(data, "progress",
                      {{&accepted, "progress.dat", "accepted, of the drafts that were judged",
                        "share of the canvas that stood before the draft", "share", axes}},
                      shares, "Verified steps, without the target's own draws. ");
}

}  // namespace draftlab
