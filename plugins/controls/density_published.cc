// Controls: the rules of CSpD as published, which judge the last reverse step alone.
//   - paper: times Sigma = prod_{t>=2} sigma_q / sigma_p (Eq. 4). It divides densities at two
//     different points, and is exact only where Sigma is 1.
//   - program: the authors' program, which takes the reciprocal of Sigma and, in the test alone,
//     deviations inflated by 42; where no proposal of the residual is accepted it leaves zeros.
#include <array>
#include <string_view>

#include "core/config/plugin.h"
#include "plugins/verifiers/density_verifier.h"

namespace draftlab {
namespace {

enum class Published { paper, program };
constexpr std::array<std::string_view, 2> words(Published) { return {"paper", "program"}; }

// What is taken where no proposal of the residual was accepted.
enum class Unresolved { target, zeros };
constexpr std::array<std::string_view, 2> words(Unresolved) { return {"target", "zeros"}; }

// Returns the exponent of a Gaussian whose deviations are inflated, without its normaliser.
double exponent(const Mixture& law, const Eigen::VectorXd& y, double inflation) {
  return -0.5 * ((y.array() - law.mean[0]) / (law.sigma[0] * inflation)).square().sum();
}

class DensityPublished final : public DensityVerifier {
 public:
  struct Options : DensityOptions {
    Published rule = Published::paper;
    Unresolved unresolved = Unresolved::target;
    double inflation = 42;
    void declare(OptionSet& set) {
      set.add("rule", &rule).help("The rule as printed, or as the authors' program has it.");
      set.add("inflation", &inflation)
          .in(1e-3, 1e6)
          .help("program: what multiplies the deviations in the test, and there alone.");
      set.add("unresolved", &unresolved)
          .help(
              "What is taken after `cap` proposals: a plain draw, or a vector of zeros, as the "
              "authors' program leaves there.");
      declare_common(set);
    }
  };
  explicit DensityPublished(const Options& options)
      : DensityVerifier(options, std::make_unique<Ratio>(options)) {}

 private:
  struct Ratio final : OtherRatio {
    explicit Ratio(const Options& its) : options(its) {}
    double log_factor(double log_sigma) const override {
      return options.rule == Published::paper ? log_sigma : -log_sigma;
    }
    double accepts(const Acceptance& acceptance, double log_factor,
                   std::array<const Mixture*, 2> laws, const Eigen::VectorXd& y) const override {
      const auto& [p, q] = laws;
      if (options.rule == Published::paper)
        return acceptance.probability(log_factor + p->log_density(y), q->log_density(y));
      return acceptance.probability(
          log_factor + exponent(*p, y, options.inflation) - p->sigma[0].log().sum(),
          exponent(*q, y, options.inflation) - q->sigma[0].log().sum());
    }
    bool leaves_zeros() const override { return options.unresolved == Unresolved::zeros; }
    Options options;
  };
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(verifier, density_published) {
  registries.verifiers.add<draftlab::DensityPublished>(
      "density-published", "controls: CSpD's rule as printed and as programmed; lossy");
}
