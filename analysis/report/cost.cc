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

// What the samples of one group of arms add up to.
struct Sums {
  double steps = 0, forwards = 0, rows = 0, positions = 0, tokens = 0, drafts = 0, verified = 0,
         seconds = 0, model_seconds = 0, samples = 0, nfe = 0, machine = 0;
  // The positions of each timed forward, and its seconds.
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

namespace {

// The weights that a forward of a sample reads.
class WeightsOfSamples {
 public:
  WeightsOfSamples(const Frame& frame, const CostRequest& request) : frame_(frame) {
    for (const Frame::Arm& arm : frame.arms()) {
      parameters_.push_back(request.parameters > 0 ? request.parameters
                                                   : static_cast<double>(arm.run.parameters));
      if (request.machine.known() && !(parameters_.back() > 0))
        throw UsageError(
            "the traces do not say how many parameters the model has; --parameters must");
    }
  }
  ModelWeights operator()(const Frame::Sample& sample) const {
    const std::string& dtype = frame_.files()[sample.file].provenance.dtype;
    return {parameters_[sample.arm], bytes_of_weight(dtype)};
  }

 private:
  const Frame& frame_;
  std::vector<double> parameters_;
};

// What a step's row tells of its forwards of one kind.
struct ForwardsOfStep {
  double calls = 0, rows = 0, positions = 0, nanoseconds = 0;
};

// The columns that a step's counts are read from, and how.
struct StepColumns {
  static std::vector<std::string> names() {
    std::vector<std::string> columns = {"step_committed", "step_drafted", "step_span",
                                        "step_verified"};
    for (const char* kind : kForwardKinds) {
      for (const char* part : {"nfe", "rows", "positions", "ns"})
        columns.push_back(std::string("step_") + part + "_" + kind);
    }
    return columns;
  }
  const Frame::Block& block;
  std::int64_t step;
  double committed() const { return block.steps[0][step]; }
  bool verified() const { return block.steps[3][step] > 0; }
  // The drafts that a chain could judge.
  double judged() const {
    const double drafted = block.steps[1][step], span = block.steps[2][step];
    return span > 0 ? std::min(drafted, span) : drafted;
  }
  ForwardsOfStep forwards(std::size_t kind) const {
    const auto at = [&](std::size_t part) { return block.steps[4 + 4 * kind + part][step]; };
    return {at(0), at(1), at(2), at(3)};
  }
};

void add_step(const StepColumns& step, Sums& sum) {
  ++sum.steps;
  sum.tokens += step.committed();
  if (!step.verified()) return;
  ++sum.verified;
  sum.drafts += step.judged();
}

void add_forwards(const ForwardsOfStep& forwards, bool timed, Sums& sum) {
  sum.forwards += forwards.calls;
  sum.rows += forwards.rows;
  sum.positions += forwards.positions;
  if (!timed || sum.x.size() >= kMostForwards) return;
  sum.x.push_back(forwards.positions / forwards.calls);
  sum.y.push_back(1e-9 * forwards.nanoseconds / forwards.calls);
}

void add_steps(const Frame& frame, const CostRequest& request, const Grouping& grouping,
               std::vector<Sums>& sums) {
  const WeightsOfSamples weights(frame, request);
  const std::vector<double> seconds = frame.numbers("sample_seconds");
  frame.walk(StepColumns::names(), [&](const Frame::Block& block) {
    for (std::size_t i = 0; i < block.samples.size(); ++i) {
      const Frame::Sample& sample = frame.samples()[block.samples[i]];
      if (!sample.counts) continue;
      Sums& sum = sums[grouping.group_of[sample.arm]];
      for (std::int64_t s = block.step_begin[i]; s < block.step_begin[i + 1]; ++s) {
        const StepColumns step{block, s};
        add_step(step, sum);
        for (std::size_t kind = 0; kind < std::size(kForwardKinds); ++kind) {
          const ForwardsOfStep forwards = step.forwards(kind);
          if (!(forwards.calls > 0)) continue;
          add_forwards(forwards, !std::isnan(seconds[block.samples[i]]), sum);
          if (request.machine.known())
            sum.machine +=
                forwards.calls *
                request.machine.forward(forwards.positions / forwards.calls, weights(sample));
        }
      }
    }
  });
}

void add_samples(const Frame& frame, const Grouping& grouping, std::vector<Sums>& sums) {
  const std::vector<double> seconds = frame.numbers("sample_seconds");
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
}

// What forwards alone say of a group, whatever the time that they took.
Cost counted_cost(const Sums& sum, const Sums& base) {
  Cost cost;
  cost.forwards_per_step = over(sum.forwards, sum.steps);
  cost.rows_per_step = over(sum.rows, sum.steps);
  cost.positions_per_step = over(sum.positions, sum.steps);
  cost.tokens_per_step = over(sum.tokens, sum.steps);
  cost.drafts_per_step = over(sum.drafts, sum.verified);
  cost.tokens_per_forward = over(sum.tokens, sum.nfe);
  // The cost of a step in tokens of the baseline.
  cost.break_even_forwards =
      acceptance_for(over(sum.nfe, sum.steps) / over(base.nfe, base.tokens), cost.drafts_per_step);
  cost.acceptance = acceptance_for(cost.tokens_per_step, cost.drafts_per_step);
  if (sum.verified == 0) cost.break_even_forwards = cost.acceptance = kNotMeasured;
  cost.ideal_speedup = over(base.nfe, base.tokens) / over(sum.nfe, sum.tokens);
  return cost;
}

// What the seconds of a group and of the baseline say where they may be compared.
void compare_seconds(const Sums& sum, const Sums& base, Cost& cost) {
  const bool measured = !std::isnan(sum.seconds) && !std::isnan(base.seconds);
  if (measured && sum.verified > 0)
    cost.break_even_seconds = acceptance_for(
        over(sum.seconds, sum.steps) / over(base.seconds, base.tokens), cost.drafts_per_step);
  cost.model_speedup = over(base.model_seconds, base.tokens) / over(sum.model_seconds, sum.tokens);
  cost.speedup = over(base.seconds, base.tokens) / over(sum.seconds, sum.tokens);
}

}  // namespace

std::vector<Cost> costs(const Frame& frame, const CostRequest& request) {
  const Grouping grouping(frame, request.by);
  std::vector<Sums> sums(grouping.groups.size());
  add_steps(frame, request, grouping, sums);
  add_samples(frame, grouping, sums);

  const auto baseline = static_cast<std::size_t>(only_baseline(frame, grouping, request.baseline));
  const Sums& base = sums[baseline];
  const bool comparable = times_refused(frame).empty();
  std::vector<Cost> result;
  for (std::size_t g = 0; g < sums.size(); ++g) {
    const Sums& sum = sums[g];
    if (sum.samples == 0) continue;
    Cost cost = counted_cost(sum, base);
    cost.name = grouping.groups[g].name;
    cost.seconds_per_token = over(sum.seconds, sum.tokens);
    cost.fitted = static_cast<std::int64_t>(sum.x.size());
    cost.seconds_of_forward = fit_line(sum.x, sum.y);
    if (comparable) {
      compare_seconds(sum, base, cost);
      cost.predicted = predicted_share(sums, g);
    }
    if (request.machine.known()) {
      cost.machine_seconds = over(sum.machine, sum.tokens);
      cost.machine_speedup = over(base.machine, base.tokens) / cost.machine_seconds;
    }
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
  if (request.machine.known()) {
    text += "\n" + machine.print() + "\na machine of " +
            fixed(1e-9 * request.machine.bandwidth, 1) + " GB/s and " +
            fixed(1e-12 * request.machine.flops, 3) +
            " TFLOP/s that runs the same forwards: each takes the longer of reading the weights "
            "and 2 operations a parameter and position;\n"
            "caches, attention and the loop cost nothing there.\n";
  }
  return text;
}

}  // namespace draftlab
