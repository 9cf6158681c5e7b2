#include "analysis/surface/predicted.h"

#include <algorithm>

#include "analysis/metrics/samples.h"
#include "core/base/error.h"
#include "core/config/options.h"

namespace draftlab {
namespace {

constexpr double kMilli = 1e3;
constexpr std::int64_t kMostCopies = 4096;

// What a forward of one kind of a step asks of the target.
struct TargetOfStep {
  double forwards = 0, positions = 0;
};

// The seconds of a step of so many equal sequences. The positions of a batch cost what as many
// positions of one sequence do, and its forwards are shared.
struct StepSeconds {
  const CostSurface& surface;
  double copies;

  double target(const TargetOfStep& asked, double cached) const {
    const ForwardSeconds& forward = surface.target;
    return asked.forwards * (forward.fixed + forward.cached * copies * cached) +
           forward.row * copies * asked.positions;
  }
  // The rows are those of one sequence, as in the simulator that the surface was published with.
  double draft(const DraftSeconds& draft, double target, double cached, double drafted) const {
    if (drafted == 0) return 0;
    return draft.forward.cached * copies * cached + draft.forward.row * (drafted + 1) +
           draft.forward.fixed + draft.share * target;
  }
};

// The section that each arm's drafter has; null where the arm decodes token after token, or where
// its drafter asks no model but the target.
std::vector<const DraftSeconds*> sections_of(const Samples& samples, const CostSurface& surface) {
  const Frame& frame = samples.frame();
  std::vector<const DraftSeconds*> sections(frame.arms().size(), nullptr);
  for (std::size_t arm = 0; arm < sections.size(); ++arm) {
    const auto found = surface.drafts.find(frame.key(static_cast<int>(arm), "drafter"));
    if (found != surface.drafts.end() && frame.arms()[arm].run.sequential == 0)
      sections[arm] = &found->second;
  }
  const std::vector<double> asked = samples.counted("nfe", kForwards, "drafter_");
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const int arm = frame.samples()[i].arm;
    if (asked[i] > 0 && sections[static_cast<std::size_t>(arm)] == nullptr)
      throw DataError(
          "the drafter '{}' asks a model of its own, and the cost surface of {} has no section "
          "[{}]",
          frame.key(arm, "drafter"), surface.source, frame.key(arm, "drafter"));
  }
  return sections;
}

std::vector<double> sample_seconds(const Samples& samples, const CostSurface& surface,
                                   double copies) {
  std::vector<std::string> columns = {"step_committed", "step_drafted"};
  for (const std::string& kind : kForwards)
    for (const char* part : {"nfe", "positions"})
      columns.push_back(std::string("step_") + part + "_" + kind);
  const std::vector<const DraftSeconds*> sections = sections_of(samples, surface);
  const std::vector<double>& prompts = samples.column("sample_prompt_tokens");
  const StepSeconds step{surface, copies};
  std::vector<double> seconds(samples.size(), 0);
  samples.frame().walk(columns, [&](const Frame::Block& block) {
    for (std::size_t i = 0; i < block.samples.size(); ++i) {
      const auto sample = static_cast<std::size_t>(block.samples[i]);
      const auto arm = static_cast<std::size_t>(samples.frame().samples()[sample].arm);
      double cached = prompts[sample];
      std::vector<TargetOfStep> all(kForwards.size());
      for (std::int64_t s = block.step_begin[i]; s < block.step_begin[i + 1]; ++s) {
        double target = 0;
        for (std::size_t kind = 0; kind < kForwards.size(); ++kind) {
          // The section of a drafter says what drafting takes, whichever model it asks.
          if (kForwards[kind] == "draft" && sections[arm] != nullptr) continue;
          const TargetOfStep asked{block.steps[2 + 2 * kind][s], block.steps[3 + 2 * kind][s]};
          all[kind].forwards += asked.forwards;
          all[kind].positions += asked.positions;
          target += step.target(asked, kForwards[kind] == "prefill" ? 0 : cached);
        }
        seconds[sample] += target + surface.engine;
        if (sections[arm] != nullptr)
          seconds[sample] += step.draft(*sections[arm], target, cached, block.steps[1][s]);
        cached += block.steps[0][s];
      }
      // Single forwards may compute no position: one that was answered with the forward before.
      for (std::size_t kind = 0; kind < kForwards.size(); ++kind)
        if (all[kind].forwards > 0 && !(all[kind].positions > 0))
          throw DataError(
              "'{}' does not say how many positions its forwards computed (step_positions_{}), "
              "which a cost surface needs",
              samples.frame().files()[static_cast<std::size_t>(block.file)].path, kForwards[kind]);
    }
  });
  return seconds;
}

class Predicted final : public MetricFamily {
 public:
  Predicted(std::shared_ptr<const CostSurface> surface, std::int64_t copies)
      : surface_(std::move(surface)), copies_(copies) {}
  std::vector<Metric> metrics(const Samples&) const override {
    const std::string copies = std::to_string(copies_);
    return {{.name = "predicted_" + copies,
             .title = "ms/token there, batch " + copies,
             .unit = "ms",
             .doc = "milliseconds a generated token in a batch of " + copies +
                    " copies, simulated on the cost surface of " + surface_->source,
             .compare = Metric::Compare::cost,
             .better = -1,
             .digits = 3,
             .measure = [surface = surface_, copies = copies_](const Samples& samples) {
               std::vector<double> all = sample_seconds(samples, *surface, double(copies));
               // Each of the copies writes as many tokens.
               for (double& seconds : all) seconds *= kMilli / static_cast<double>(copies);
               return Measured::ratio_of(std::move(all), samples.column("sample_generated"));
             }}};
  }

 private:
  std::shared_ptr<const CostSurface> surface_;
  std::int64_t copies_;
};

}  // namespace

void SurfaceRequest::declare(OptionSet& set) {
  set.add("surface", &file)
      .help("A cost surface, an INI file (docs/GPU.md): what a token would take there.");
  set.add("batches", &batches)
      .in(1, kMostCopies)
      .help("With --surface: the batches, which are copies of one sample.");
}

std::string PredictedMetrics::note() const {
  return "Milliseconds a token are simulated on a cost surface, whose source is: " + source +
         ". A batch holds copies of one sample; each step takes the forwards and positions that "
         "the trace counted, and the interval sees the prompts alone.";
}

PredictedMetrics predicted_metrics(const SurfaceRequest& request, const MetricRegistry& known) {
  if (request.file.empty()) {
    if (request.batches != SurfaceRequest().batches)
      throw UsageError("--batches belongs to --surface, which is not there");
    return {known, {}, ""};
  }
  const auto surface = std::make_shared<const CostSurface>(read_cost_surface(request.file));
  PredictedMetrics predicted{known, {}, surface->source};
  std::vector<std::int64_t> batches = request.batches;
  std::sort(batches.begin(), batches.end());
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  for (const std::int64_t copies : batches) {
    const std::string name = "predicted_" + std::to_string(copies);
    predicted.known.add_with<NoOptions>(
        name, "milliseconds a token on a cost surface", {},
        [surface, copies](const NoOptions&) -> std::unique_ptr<MetricFamily> {
          return std::make_unique<Predicted>(surface, copies);
        });
    predicted.names.push_back(name);
  }
  return predicted;
}

}  // namespace draftlab
