// Entropy-bounded unmasking (Ben-Hamu et al., 2025): it commits drafts of rising entropy as long as
// the sum of their entropies without the largest stays within a bound. That sum bounds what drawing
// them independently can cost.
#include <algorithm>

#include "core/config/plugin.h"
#include "plugins/unmaskers/quota.h"

namespace draftlab {
namespace {

class EntropyBound final : public QuotaUnmasker {
 public:
  struct Options {
    double bound = 0.1;
    void declare(OptionSet& set) {
      set.add("bound", &bound)
          .in(0, 1000)
          .help(
              "Nats that the entropies of what one step commits may sum to, the largest left out.");
    }
  };
  explicit EntropyBound(const Options& options) : bound_(options.bound) {}
  std::vector<DecodeKey> reads() const override { return {DecodeKey::steps}; }

 private:
  int sure(const Step&, std::vector<Draft>& drafts) const override {
    std::sort(drafts.begin(), drafts.end(), [](const Draft& a, const Draft& b) {
      return a.entropy != b.entropy ? a.entropy < b.entropy : a.position < b.position;
    });
    int count = 0;
    // The sum over the drafts before the one in question, which has the largest entropy so far.
    double sum = 0;
    while (count < static_cast<int>(drafts.size()) && sum <= bound_) sum += drafts[count++].entropy;
    return count;
  }

  double bound_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(unmasker, entropy_bound) {
  registries.unmaskers.add<draftlab::EntropyBound>(
      "entropy-bound",
      "drafts of rising entropy while their sum stays within a bound (EB-sampler)");
}
