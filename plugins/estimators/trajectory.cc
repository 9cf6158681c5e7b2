// A draft that is a vector is accepted the likelier, the smaller a number of its own trajectory is:
// the spread of its coordinates, the surprise of its reverse steps (the guesses of De Bortoli et
// al., 2025, for the next law), or the inverse of the laws' deviation. Neither model is asked.
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "core/config/plugin.h"
#include "core/parts/estimator.h"
#include "core/prob/accepted_prefix.h"

namespace draftlab {
namespace {

enum class Shown { spread, surprise, deviation };
constexpr std::array<std::string_view, 3> words(Shown) {
  return {"spread", "surprise", "deviation"};
}

class TrajectoryEstimator final : public Estimator {
 public:
  struct Options {
    Shown reads = Shown::spread;
    double beta = 1;
    void declare(OptionSet& set) {
      set.add("reads", &reads)
          .help(
              "The number x of a draft: the variance of its coordinates; how far each reverse "
              "step's law lies from where the one before it pointed (mean square, in deviations); "
              "or 1 over the geometric mean of the laws' deviations, which needs a model that "
              "learnt them.");
      set.add("beta", &beta)
          .in(0, 1e6)
          .help("A draft passes with probability exp(-beta x); 0 expects every draft to pass.");
    }
  };
  explicit TrajectoryEstimator(const Options& options) : options_(options) {}

  // Of drafts that are ids nothing can be told.
  double expected(const StepView& step) const override {
    const NumbersView& numbers = options_.reads == Shown::spread     ? step.spread
                                 : options_.reads == Shown::surprise ? step.surprise
                                                                     : step.deviation;
    if (numbers.size() == 0) return kNotMeasured;
    std::vector<double> alpha;
    for (Eigen::Index i = 0; i < step.drafts(); ++i) {
      const double x = options_.reads == Shown::deviation ? 1 / numbers[i] : numbers[i];
      alpha.push_back(options_.beta == 0 ? 1 : std::exp(-options_.beta * x));
    }
    return expected_accepted(alpha);
  }

 private:
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(estimator, trajectory) {
  registries.estimators.add<draftlab::TrajectoryEstimator>(
      "trajectory", "a vector draft passes with probability exp(-beta x), x read from its drawing");
}
