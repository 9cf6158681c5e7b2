// Dynamic decoding: every draft whose probability exceeds decode.threshold is committed, and the
// most confident drafts where these do not meet the step's quota (S2D2, Sec. 3).
#include <algorithm>

#include "core/config/options.h"
#include "core/config/plugin.h"
#include "plugins/unmaskers/quota.h"

namespace draftlab {
namespace {

class Threshold final : public QuotaUnmasker {
 public:
  struct Options {
    std::int64_t most = 0;
    void declare(OptionSet& set) {
      set.add("most", &most)
          .in(0, 1 << 20)
          .help(
              "Confident drafts that one step commits at most; 0: all (Fast-dLLM's loop for Dream "
              "without blocks: tokens divided by steps).");
    }
  };
  explicit Threshold(const Options& options) : most_(options.most) {}

 private:
  int sure(const Step& step, std::vector<Draft>& drafts) const override {
    const auto confident = std::count_if(drafts.begin(), drafts.end(), [&](const Draft& draft) {
      return draft.confidence > step.decode.threshold;
    });
    return static_cast<int>(most_ > 0 ? std::min<std::int64_t>(most_, confident) : confident);
  }

  std::int64_t most_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(unmasker, threshold) {
  registries.unmaskers.add<draftlab::Threshold>(
      "threshold",
      "drafts more probable than decode.threshold, at least the step's quota (dynamic decoding)");
}
