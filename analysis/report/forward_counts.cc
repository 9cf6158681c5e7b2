#include "analysis/report/forward_counts.h"

#include <cmath>

#include "analysis/report/statistics.h"

namespace draftlab {
namespace {

constexpr const char* kStepKinds[] = {"draft", "verify", "commit"};
constexpr std::size_t kMostFitted = 200000;  // The most forwards that a line is fitted to.

// Calls visit(sample, positions of one forward, forwards, their nanoseconds, committed tokens or 0)
// for each kind of forward of each step of the samples that count.
template <class Visit>
void each_forward(const Frame& frame, Visit visit) {
  std::vector<std::string> columns = {"step_committed"};
  for (const char* kind : kStepKinds)
    for (const char* part : {"nfe", "positions", "ns"})
      columns.push_back(std::string("step_") + part + "_" + kind);
  frame.walk(columns, [&](const Frame::Block& block) {
    for (std::size_t i = 0; i < block.samples.size(); ++i) {
      const Frame::Sample& sample = frame.samples()[block.samples[i]];
      if (!sample.counts) continue;
      for (std::int64_t s = block.step_begin[i]; s < block.step_begin[i + 1]; ++s) {
        double committed = block.steps[0][s];
        for (std::size_t k = 0; k < std::size(kStepKinds); ++k) {
          const double calls = block.steps[1 + 3 * k][s];
          if (!(calls > 0) && committed == 0) continue;
          visit(sample, calls > 0 ? block.steps[2 + 3 * k][s] / calls : 0, calls,
                block.steps[3 + 3 * k][s], committed);
          committed = 0;
        }
      }
    }
  });
}

}  // namespace

double ForwardCounts::token_seconds(const MachineSpeed& machine) const {
  double all = 0;
  for (const auto& [positions, calls] : forwards)
    all += calls * machine.forward(positions, weights);
  const double drafting = target_ns > 0 ? draft_ns / target_ns : 0;
  return all * (1 + drafting) / tokens;
}

std::vector<ForwardCounts> forward_counts(const Frame& frame, const Grouping& grouping) {
  std::vector<ForwardCounts> groups(grouping.groups.size());
  each_forward(frame, [&](const Frame::Sample& sample, double positions, double calls, double ns,
                          double committed) {
    ForwardCounts& group = groups[grouping.group_of[sample.arm]];
    if (calls > 0) group.forwards[positions] += calls;
    group.tokens += committed;
    group.target_ns += calls > 0 ? ns : 0;
  });
  const std::vector<double> seconds = frame.numbers("sample_seconds");
  std::vector<std::vector<double>> drafting;
  for (const char* kind : kStepKinds)
    drafting.push_back(frame.numbers(std::string("sample_drafter_ns_") + kind));
  for (std::size_t i = 0; i < frame.samples().size(); ++i) {
    const Frame::Sample& sample = frame.samples()[i];
    if (!sample.counts) continue;
    ForwardCounts& group = groups[grouping.group_of[sample.arm]];
    group.weights = {static_cast<double>(frame.arms()[sample.arm].run.parameters),
                     bytes_of_weight(frame.files()[sample.file].provenance.dtype)};
    group.seconds += seconds[i];
    for (const std::vector<double>& kind : drafting)
      group.draft_ns += std::isfinite(kind[i]) ? kind[i] : 0;
  }
  return groups;
}

MachineSpeed fitted_machine(const Frame& frame, const std::vector<ForwardCounts>& groups) {
  std::vector<double> x, y;
  each_forward(frame, [&](const Frame::Sample&, double positions, double calls, double ns, double) {
    if (!(calls > 0) || !(ns > 0) || x.size() == kMostFitted) return;
    x.push_back(positions);
    y.push_back(1e-9 * ns / calls);
  });
  if (x.size() < 3) return {};
  const Line line = fit_line(x, y);
  const auto [parameters, bytes] = groups.front().weights;
  if (!(line.intercept.value > 0) || !(line.slope.value > 0) || !(parameters > 0)) return {};
  return {parameters * bytes / line.intercept.value, 2 * parameters / line.slope.value};
}

}  // namespace draftlab
