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
  data.frame.walk(
      {"step_verified", "step_masked", "step_exact"}, Table::draft,
      {"draft_depth", "draft_accepted"}, [&](const Frame::Block& block) {
        for (std::size_t i = 0; i < block.samples.size(); ++i) {
          const int series = data.series_of(block.samples[i]);
          if (series < 0) continue;
          const int prompt =
              data.frame.samples()[static_cast<std::size_t>(block.samples[i])].prompt;
          const double all = generated[static_cast<std::size_t>(block.samples[i])];
          for (std::int64_t s = block.step_begin[i]; s < block.step_begin[i + 1]; ++s) {
            if (block.steps[0][s] == 0) continue;
            for (std::int64_t d = block.row_begin[s]; d < block.row_begin[s + 1]; ++d) {
              const double depth = block.rows[0][d], before = all - block.steps[1][s] + depth;
              if (block.rows[1][d] < 0 || depth < block.steps[2][s] || before < 0 || before >= all)
                continue;
              accepted.add(series,
                           static_cast<std::size_t>(before / all * static_cast<double>(parts)),
                           prompt, block.rows[1][d] == 1);
            }
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
