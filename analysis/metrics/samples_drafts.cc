// What became of drafts: sums over the steps of each sample, and over the rows of drafts.
#include <algorithm>
#include <cmath>

#include "analysis/metrics/samples.h"

namespace draftlab {

const std::vector<AcceptanceSums>& Samples::acceptance() const {
  if (!acceptance_.empty()) return acceptance_;
  acceptance_.resize(frame_.samples().size());
  frame_.walk({"step_verified", "step_accepted", "step_drafted", "step_span", "step_exact",
               "step_committed"},
              [&](const Frame::Block& block) {
                StepRow step;
                for (std::size_t i = 0; i < block.samples.size(); ++i) {
                  AcceptanceSums& sums = acceptance_[block.samples[i]];
                  for (std::int64_t s = block.step_begin[i]; s < block.step_begin[i + 1]; ++s) {
                    step.verified = static_cast<std::int32_t>(block.steps[0][s]),
                    step.accepted = static_cast<std::int32_t>(block.steps[1][s]);
                    step.drafted = static_cast<std::int32_t>(block.steps[2][s]),
                    step.span = static_cast<std::int32_t>(block.steps[3][s]);
                    step.exact = static_cast<std::int32_t>(block.steps[4][s]),
                    step.committed = static_cast<std::int32_t>(block.steps[5][s]);
                    sums.add(step);
                  }
                }
              });
  // The forwards of the steps are the sample's without the prefill, which belongs to no step.
  const std::vector<double> forwards = counted("nfe", {"draft", "verify", "commit"});
  const std::vector<double>& verify = column("sample_nfe_verify");
  for (std::size_t i = 0; i < acceptance_.size(); ++i) {
    acceptance_[i].forwards = static_cast<std::int64_t>(forwards[i]);
    acceptance_[i].verify_forwards = static_cast<std::int64_t>(verify[i]);
  }
  return acceptance_;
}

// The numbers are NaN where no drafts were recorded; proposals are NaN also where tokens are ids,
// or where the file is older than that column. Energies are NaN where tokens are vectors.
const Samples::Trials& Samples::trials() const {
  if (!trials_.judged.empty()) return trials_;
  const std::vector<double> unknown(frame_.samples().size(), kNotMeasured);
  trials_ = {unknown, unknown, unknown, unknown, unknown, unknown, unknown, unknown, unknown};
  frame_.walk({"step_verified", "step_exact"}, Table::draft,
              {"draft_depth", "draft_accepted", "draft_proposals", "draft_capped", "draft_log_p",
               "draft_p", "draft_q", "draft_limit"},
              [&](const Frame::Block& block) {
                for (std::size_t i = 0; i < block.samples.size(); ++i) {
                  const std::size_t sample = static_cast<std::size_t>(block.samples[i]);
                  if (frame_.files()[static_cast<std::size_t>(block.file)].drafts == "none")
                    continue;
                  double judged = 0, accepted = 0, proposals = 0, capped = 0, limit = 0;
                  double energy = 0, energy_drafts = 0, energy_steps = 0;
                  bool vectors = false;
                  for (std::int64_t s = block.step_begin[i]; s < block.step_begin[i + 1]; ++s) {
                    const double before = energy_drafts;
                    for (std::int64_t d = block.row_begin[s];
                         block.steps[0][s] != 0 && d < block.row_begin[s + 1]; ++d) {
                      if (block.rows[1][d] < 0 || block.rows[0][d] < block.steps[1][s]) continue;
                      ++judged;
                      accepted += block.rows[1][d] == 1;
                      proposals += block.rows[2][d];
                      capped += block.rows[3][d] == 1;
                      vectors = vectors || !std::isnan(block.rows[4][d]);
                      if (const double p = block.rows[5][d], q = block.rows[6][d]; p > 0 && q > 0)
                        energy += std::log(q / p), ++energy_drafts;
                      limit += std::isnan(block.rows[7][d]) ? 0 : block.rows[7][d];
                    }
                    energy_steps += energy_drafts > before;
                  }
                  trials_.judged[sample] = judged, trials_.accepted[sample] = accepted;
                  if (limit > 0) trials_.limited[sample] = accepted, trials_.limit[sample] = limit;
                  if (vectors) {
                    trials_.proposals[sample] = proposals, trials_.capped[sample] = capped;
                    continue;
                  }
                  trials_.energy[sample] = energy, trials_.energy_drafts[sample] = energy_drafts;
                  trials_.energy_steps[sample] = energy_steps;
                }
              });
  return trials_;
}

std::vector<AtDepth> Samples::by_depth(const std::vector<char>& wanted) const {
  std::vector<AtDepth> depths;
  if (std::any_of(frame_.files().begin(), frame_.files().end(),
                  [](const Frame::File& file) { return file.drafts == "none"; }))
    return depths;
  frame_.walk({"step_verified", "step_span"}, Table::draft, {"draft_depth", "draft_accepted"},
              [&](const Frame::Block& block) {
                for (std::size_t i = 0; i < block.samples.size(); ++i) {
                  if (!wanted[block.samples[i]]) continue;
                  for (std::int64_t s = block.step_begin[i]; s < block.step_begin[i + 1]; ++s) {
                    if (block.steps[0][s] == 0) continue;
                    for (std::int64_t d = block.row_begin[s]; d < block.row_begin[s + 1]; ++d) {
                      const auto depth = static_cast<std::size_t>(block.rows[0][d]);
                      if ((block.steps[1][s] > 0 && block.rows[0][d] >= block.steps[1][s]) ||
                          depth > 100000)
                        continue;
                      if (depths.size() <= depth) depths.resize(depth + 1);
                      ++depths[depth].drafted;
                      depths[depth].reached += block.rows[1][d] >= 0;
                      depths[depth].accepted += block.rows[1][d] == 1;
                    }
                  }
                }
              });
  return depths;
}
}  // namespace draftlab
