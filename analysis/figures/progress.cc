// Acceptance over the course of a decode (CSpD, Figure 11): how often a judged draft was accepted,
// by how much stood before it.
#include <algorithm>

#include "analysis/figures/bins.h"
#include "analysis/figures/figures.h"
#include "core/base/error.h"

namespace draftlab {
namespace {

constexpr std::size_t kMostParts = 64;

}  // namespace

Picture progress_figure(const PlotData& data) {
  const std::vector<double> generated = data.frame.numbers("sample_generated");
  double longest = 1;
  for (const double tokens : generated) longest = std::max(longest, tokens);
  const std::size_t parts = std::min(kMostParts, static_cast<std::size_t>(longest));
  Bins accepted(data.series(), parts);
  each_draft(data, {"step_masked", "step_exact"}, {"draft_accepted"}, [&](const ShownDraft& draft) {
    const ShownSample& sample = draft.sample;
    const double all = generated[static_cast<std::size_t>(sample.block.samples[sample.place])];
    const double depth = draft.of_draft(0), before = all - draft.of_step(1) + depth;
    if (draft.of_draft(1) < 0 || depth < draft.of_step(2) || before < 0 || before >= all) return;
    const auto part = static_cast<std::size_t>(before / all * static_cast<double>(parts));
    accepted.add({sample.series, part, sample.prompt}, draft.of_draft(1) == 1);
  });
  if (accepted.empty())
    throw DataError(
        "the figure 'progress' needs judged drafts, and the traces hold none; decode with "
        "trace.drafts = all and a verifier");
  std::vector<double> shares;
  for (std::size_t part = 0; part < parts; ++part)
    shares.push_back((static_cast<double>(part) + 0.5) / static_cast<double>(parts));
  const std::string axes = AxisRange().commands('x', true, 5) + AxisRange().commands('y', true, 5);
  return curve_figure(
      data, {.name = "progress",
             .panels = {{&accepted, "progress.dat", "accepted, of the drafts that were judged",
                         "share of the canvas that stood before the draft", "share", axes}},
             .x = shares,
             .note = "Verified steps, without the target's own draws. "});
}

}  // namespace draftlab
