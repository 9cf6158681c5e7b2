// LocalLeap (Kong et al., 2025; from the paper alone, without the authors' code): drafts above
// decode.threshold are anchors, which are committed, and so are the drafts within `distance` of an
// anchor whose confidence is above the lower threshold `near`, for an anchor settles what stands
// around it.
#include <cstdlib>

#include "core/config/plugin.h"
#include "plugins/unmaskers/quota.h"

namespace draftlab {
namespace {

class LocalLeap final : public QuotaUnmasker {
 public:
  struct Options {
    std::int64_t distance = 4;
    double near = 0.75;
    void declare(OptionSet& set) {
      set.add("distance", &distance)
          .in(0, 4096)
          .help("Largest distance, in positions, from an anchor (a draft above decode.threshold).");
      set.add("near", &near).in(0, 1).help("Threshold of drafts within that distance.");
    }
  };
  explicit LocalLeap(const Options& options) : options_(options) {}

 private:
  // Drafts come most confident first, anchors thus before all others.
  int sure(const Step& step, std::vector<Draft>& drafts) const override {
    const auto anchors_end = std::find_if(drafts.begin(), drafts.end(), [&](const Draft& draft) {
      return !(draft.confidence > step.decode.threshold);
    });
    const std::vector<Draft> anchors(drafts.begin(), anchors_end);
    const auto reached = [&](const Draft& draft) {
      return draft.confidence > options_.near &&
             std::any_of(anchors.begin(), anchors.end(), [&](const Draft& anchor) {
               return std::abs(anchor.position - draft.position) <= options_.distance;
             });
    };
    return static_cast<int>(std::stable_partition(anchors_end, drafts.end(), reached) -
                            drafts.begin());
  }

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(unmasker, local_leap) {
  registries.unmaskers.add<draftlab::LocalLeap>(
      "local-leap",
      "drafts above decode.threshold, and those near one above a lower threshold (LocalLeap)");
}
