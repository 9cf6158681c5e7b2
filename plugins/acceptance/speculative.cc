// The ratio test of speculative sampling: a draft x ~ q is accepted with probability min(1,
// p(x)/q(x)), and otherwise replaced by a draw from max(p - q, 0) (ASSD, Algorithm 1, lines 19-24).
// It is exact for gamma = 1, epsilon = 0 and resample = true.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "core/config/plugin.h"
#include "core/parts/acceptance.h"

namespace draftlab {
namespace {

// What follows a rejection: a draw from the residual, nothing, or the draft all the same.
enum class Rejected { residual, masked, draft };
constexpr std::array<std::string_view, 3> words(Rejected) { return {"true", "false", "draft"}; }

class Speculative final : public Acceptance {
 public:
  struct Options {
    double epsilon = 0, gamma = 1;
    Rejected resample = Rejected::residual;
    void declare(OptionSet& set) {
      set.add("epsilon", &epsilon)
          .in(0, 1)
          .help(
              "Tolerance added to the ratio (ASSD, Table 8); above 0 the decoder is not lossless.");
      set.add("gamma", &gamma)
          .in(0.01, 100)
          .help("Exponent of the ratio (tempering); other than 1 the decoder is not lossless.");
      set.add("resample", &resample)
          .help(
              "Where a draft is rejected: draw from the residual, leave the position masked, or "
              "commit the draft all the same; only true is lossless.");
    }
  };
  explicit Speculative(const Options& options) : options_(options) {}

  double probability(const Trial& trial) const override {
    const double p = trial.target.probability(trial.token);
    const double q = trial.drawn_from ? trial.drawn_from->probability(trial.token) : 1.0;
    return p >= q ? 1 : accepts(p / q);
  }
  Distribution replacement(const Trial& trial) const override {
    if (options_.resample == Rejected::masked) return {};
    if (options_.resample == Rejected::draft)
      return Distribution::point(trial.token, trial.target.size());
    return residual(trial.target, trial.drawn_from
                                      ? *trial.drawn_from
                                      : Distribution::point(trial.token, trial.target.size()));
  }

  bool exact() const override {
    return options_.gamma == 1 && options_.epsilon == 0 && options_.resample == Rejected::residual;
  }
  bool judges_densities() const override { return options_.resample == Rejected::residual; }
  double probability(double log_target, double log_drawn) const override {
    return log_target >= log_drawn ? 1 : accepts(std::exp(log_target - log_drawn));
  }
  // A draw of the target is one of max(p - q, 0) with probability 1 - q / p.
  double replaces(double log_target, double log_drawn) const override {
    return std::max(0.0, -std::expm1(log_drawn - log_target));
  }

 private:
  double accepts(double ratio) const {
    const double accept = std::min(
        1.0, (options_.gamma == 1 ? ratio : std::pow(ratio, options_.gamma)) + options_.epsilon);
    // Rounding may put the drafter's own token a hair above the target's.
    return accept > 1 - 1e-12 ? 1 : accept;
  }

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(acceptance, speculative) {
  registries.acceptance.add<draftlab::Speculative>(
      "speculative",
      "ratio test and residual distribution; exact unless epsilon or gamma say otherwise");
}
