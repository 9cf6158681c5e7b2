#include "analysis/report/cost.h"

#include <Eigen/QR>
#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/frame/timing.h"
#include "analysis/report/baselines.h"
#include "analysis/report/grouping.h"
#include "core/base/error.h"
#include "core/base/table.h"

namespace draftlab {
namespace {

constexpr const char* kForwardKinds[] = {"draft", "verify", "commit"};
constexpr std::size_t kMostForwards = 2000000;  // The most forwards that one line is fitted to.

struct Sums {
  double steps = 0, forwards = 0, rows = 0, positions = 0, tokens = 0, drafts = 0, verified = 0,
         seconds = 0, model_seconds = 0, samples = 0, nfe = 0, machine = 0;
  std::vector<double> x, y;
};

double over(double above, double below) { return below > 0 ? above / below : kNotMeasured; }

// Seconds of one group as the others' forwards, rows and positions predict them (least squares of
// relative errors), over its own; NaN where fewer than four others were timed.
double predicted_share(const std::vector<Sums>& sums, std::size_t held_out) {
  const auto timed = [](const Sums& sum) { return sum.samples > 0 && sum.seconds > 0; };
  std::vector<const Sums*> others;
  for (std::size_t g = 0; g < sums.size(); ++g)
    if (g != held_out && timed(sums[g])) others.push_back(&sums[g]);
  if (others.size() < 4 || !timed(sums[held_out])) return kNotMeasured;
  const auto counts = [](const Sums& sum) -> Eigen::RowVector3d {
    return Eigen::RowVector3d(sum.forwards, sum.rows, sum.positions) / sum.seconds;
  };
  Eigen::MatrixX3d known(static_cast<Eigen::Index>(others.size()), 3);
  for (std::size_t i = 0; i < others.size(); ++i)
    known.row(static_cast<Eigen::Index>(i)) = counts(*others[i]);
  const Eigen::Vector3d cost =
      known.completeOrthogonalDecomposition().solve(Eigen::VectorXd::Ones(known.rows()));
  return counts(sums[held_out]).dot(cost);
}

}  // namespace

double acceptance_for(double tokens, double drafts) {
  if (!(tokens > 1)) return 0;
  if (tokens > drafts) return std::numeric_limits<double>::infinity();
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double a = (low + high) / 2,
                 committed = a == 1 ? drafts : (1 - std::pow(a, drafts)) / (1 - a);
    (committed < tokens ? low : high) = a;
  }
  return (low + high) / 2;
}

double machine_forward(double positions, double parameters, double bytes, double bandwidth,
                       double flops) {
  return std::max(parameters * bytes / bandwidth, 2 * parameters * positions / flops);
}

std::vector<Cost> costs(const Frame& frame, const CostRequest& request) {
  const Grouping grouping(frame, request.by);
  const bool machine = request.bandwidth > 0 && request.flops > 0;
  std::vector<double> parameters;
  for (const Frame::Arm& arm : frame.arms()) {
    parameters.push_back(request.parameters > 0 ? request.parameters
                                                : static_cast<double>(arm.run.parameters));
    if (machine && !(parameters.back() > 0))
      throw UsageError(
          "the traces do not say how many parameters the model has; --parameters must");
  }
  std::vector<Sums> sums(grouping.groups.size());
  // In q8 and q4 a block of 32 weights has a scale of two bytes.
  const auto bytes_of = [&](int file) {
    const std::string& dtype = frame.files()[file].provenance.dtype;
    return request.bytes > 0 ? request.bytes
           : dtype == "bf16" ? 2.0
           : dtype == "q8"   ? 34.0 / 32
           : dtype == "q4"   ? 18.0 / 32
                             : 4.0;
  };

  std::vector<std::string> columns = {"step_committed", "step_drafted", "step_span",
                                      "step_verified"};
  for (const char* kind : kForwardKinds) {
    for (const char* part : {"nfe", "rows", "positions", "ns"})
      columns.push_back(std::string("step_") + part + "_" + kind);
  }
  const std::vector<double> seconds = frame.numbers("sample_seconds");
  frame.walk(columns, [&](const Frame::Block& block) {
    for (std::size_t i = 0; i < block.samples.size(); ++i) {
      const Frame::Sample& sample = frame.samples()[block.samples[i]];
      if (!sample.counts) continue;
      Sums& sum = sums[grouping.group_of[sample.arm]];
      const bool timed = !std::isnan(seconds[block.samples[i]]);
      for (std::int64_t s = block.step_begin[i]; s < block.step_begin[i + 1]; ++s) {
        ++sum.steps;
        sum.tokens += block.steps[0][s];
        if (block.steps[3][s] > 0) {
          ++sum.verified;
          sum.drafts += block.steps[2][s] > 0 ? std::min(block.steps[1][s], block.steps[2][s])
                                              : block.steps[1][s];
        }
        for (std::size_t k = 0; k < std::size(kForwardKinds); ++k) {
          const double calls = block.steps[4 + 4 * k][s], positions = block.steps[6 + 4 * k][s];
          if (!(calls > 0)) continue;
          sum.forwards += calls;
          sum.rows += block.steps[5 + 4 * k][s];
          sum.positions += positions;
          if (machine) {
            sum.machine +=
                calls * machine_forward(positions / calls, parameters[sample.arm],
                                        bytes_of(sample.file), request.bandwidth, request.flops);
          }
          if (timed && sum.x.size() < kMostForwards) {
            sum.x.push_back(positions / calls);
            sum.y.push_back(1e-9 * block.steps[7 + 4 * k][s] / calls);
          }
        }
      }
    }
  });
  const Metrics quantities(frame);
  const Measured &model = quantities.of(quantities.find("model_seconds")),
                 &nfe = quantities.of(quantities.find("nfe"));
  for (std::size_t i = 0; i < frame.samples().size(); ++i) {
    if (!frame.samples()[i].counts) continue;
    Sums& sum = sums[grouping.group_of[frame.samples()[i].arm]];
    ++sum.samples;
    sum.seconds += seconds[i];
    sum.model_seconds += model.above()[i];
    sum.nfe += nfe.above()[i];
  }

  const auto baseline = static_cast<std::size_t>(only_baseline(frame, grouping, request.baseline));
  const Sums& base = sums[baseline];
  const bool comparable = times_refused(frame).empty();
  std::vector<Cost> result;
  for (std::size_t g = 0; g < sums.size(); ++g) {
    Sums& sum = sums[g];
    if (sum.samples == 0) continue;
    Cost cost;
    cost.name = grouping.groups[g].name;
    cost.forwards_per_step = over(sum.forwards, sum.steps);
    cost.rows_per_step = over(sum.rows, sum.steps);
    cost.positions_per_step = over(sum.positions, sum.steps);
    cost.tokens_per_step = over(sum.tokens, sum.steps);
    cost.drafts_per_step = over(sum.drafts, sum.verified);
    cost.tokens_per_forward = over(sum.tokens, sum.nfe);
    cost.seconds_per_token = over(sum.seconds, sum.tokens);
    // Costs of a step in tokens of the baseline.
    cost.break_even_forwards = acceptance_for(
        over(sum.nfe, sum.steps) / over(base.nfe, base.tokens), cost.drafts_per_step);
    cost.break_even_seconds = acceptance_for(
        over(sum.seconds, sum.steps) / over(base.seconds, base.tokens), cost.drafts_per_step);
    cost.acceptance = acceptance_for(cost.tokens_per_step, cost.drafts_per_step);
    if (std::isnan(sum.seconds) || std::isnan(base.seconds)) cost.break_even_seconds = kNotMeasured;
    if (sum.verified == 0)
      cost.break_even_forwards = cost.break_even_seconds = cost.acceptance = kNotMeasured;
    cost.ideal_speedup = over(base.nfe, base.tokens) / over(sum.nfe, sum.tokens);
    cost.model_speedup =
        over(base.model_seconds, base.tokens) / over(sum.model_seconds, sum.tokens);
    cost.speedup = over(base.seconds, base.tokens) / over(sum.seconds, sum.tokens);
    cost.predicted = predicted_share(sums, g);
    if (!comparable)
      cost.break_even_seconds = cost.model_speedup = cost.speedup = cost.predicted = kNotMeasured;
    cost.fitted = static_cast<std::int64_t>(sum.x.size());
    cost.seconds_of_forward = fit_line(sum.x, sum.y);
    cost.machine_seconds = machine ? over(sum.machine, sum.tokens) : kNotMeasured;
    cost.machine_speedup =
        machine ? over(base.machine, base.tokens) / cost.machine_seconds : kNotMeasured;
    result.insert(g == baseline ? result.begin() : result.end(), std::move(cost));
  }
  return result;
}

std::string cost_tables(const Frame& frame, const CostRequest& request) {
  const std::vector<Cost> list = costs(frame, request);
  const auto line = [](const Estimate& e, double scale, int digits) {
    if (std::isnan(e.value)) return std::string("-");
    return fixed(scale * e.value, digits) +
           (std::isnan(e.interval.low) ? ""
                                       : " [" + fixed(scale * e.interval.low, digits) + ", " +
                                             fixed(scale * e.interval.high, digits) + "]");
  };
  const auto share = [](double a) { return std::isinf(a) ? std::string("never") : fixed(a, 3); };
  TextTable step{{"arm", "forwards/step", "rows/step", "positions/step", "tokens/step",
                  "drafts/verified step", "tokens/forward", "ms/token"},
                 {}};
  TextTable even{{"arm", "acceptance", "break even, forwards", "break even, seconds",
                  "ideal speedup", "inside the model", "measured", "seconds predicted"},
                 {}};
  TextTable fit{{"arm", "ms a forward", "ms a position", "R2", "forwards"}, {}};
  TextTable machine{{"arm", "ms/token there", "speedup there"}, {}};
  for (const Cost& cost : list) {
    step.rows.push_back({cost.name, fixed(cost.forwards_per_step, 2), fixed(cost.rows_per_step, 2),
                         fixed(cost.positions_per_step, 1), fixed(cost.tokens_per_step, 2),
                         fixed(cost.drafts_per_step, 2), fixed(cost.tokens_per_forward, 2),
                         fixed(1e3 * cost.seconds_per_token, 3)});
    even.rows.push_back({cost.name, share(cost.acceptance), share(cost.break_even_forwards),
                         share(cost.break_even_seconds), fixed(cost.ideal_speedup, 2),
                         fixed(cost.model_speedup, 2), fixed(cost.speedup, 2),
                         fixed(cost.predicted, 3)});
    fit.rows.push_back({cost.name, line(cost.seconds_of_forward.intercept, 1e3, 4),
                        line(cost.seconds_of_forward.slope, 1e3, 5),
                        fixed(cost.seconds_of_forward.r2, 3), std::to_string(cost.fitted)});
    machine.rows.push_back(
        {cost.name, fixed(1e3 * cost.machine_seconds, 4), fixed(cost.machine_speedup, 2)});
  }
  std::string text = step.print() + "\n" + even.print() +
                     "\nacceptance: the probability that, equal for all drafts, gives the tokens a "
                     "step that were committed; a step pays above its break even.\n"
                     "ideal speedup: if every forward cost what the baseline's does; measured "
                     "below it is what wider forwards and the loop cost.\n"
                     "seconds predicted: what a fit of the other arms' seconds to their forwards, "
                     "rows and positions says of this arm, over what was measured.\n\n" +
                     fit.print() +
                     "\nleast squares over the forwards of steps, time = a + b x positions, with "
                     "95 % intervals.\n";
  if (const std::string refused = times_refused(frame); !refused.empty())
    text += "\n" + times_note(refused) + "\n";
  if (request.bandwidth > 0 && request.flops > 0) {
    text += "\n" + machine.print() + "\na machine of " + fixed(1e-9 * request.bandwidth, 1) +
            " GB/s and " + fixed(1e-12 * request.flops, 3) +
            " TFLOP/s that runs the same forwards: each takes the longer of reading the weights "
            "and 2 operations a parameter and position;\n"
            "caches, attention and the loop cost nothing there.\n";
  }
  return text;
}

}  // namespace draftlab
