// Hierarchical decoding (dInfer, Ma et al., 2025): beside the drafts above decode.threshold, the
// most confident draft of each maximal run of masks is committed when it is above `least`. Commits
// that are far from one another interfere less.
#include "core/config/plugin.h"
#include "plugins/unmaskers/quota.h"

namespace draftlab {
namespace {

class Hierarchical final : public QuotaUnmasker {
 public:
  struct Options {
    double least = 0.4;
    void declare(OptionSet& set) {
      set.add("least", &least).in(0, 1).help("Threshold of the best draft of each run of masks.");
    }
  };
  explicit Hierarchical(const Options& options) : options_(options) {}

 private:
  int sure(const Step& step, std::vector<Draft>& drafts) const override {
    const auto masked = [&](std::int32_t position) {
      return std::any_of(drafts.begin(), drafts.end(),
                         [&](const Draft& draft) { return draft.position == position; });
    };
    const auto best_of_its_run = [&](const Draft& draft) {
      std::int32_t first = draft.position, last = draft.position;
      while (masked(first - 1)) --first;
      while (masked(last + 1)) ++last;
      // Drafts come most confident first.
      return &draft == &*std::find_if(drafts.begin(), drafts.end(), [&](const Draft& other) {
        return other.position >= first && other.position <= last;
      });
    };
    std::vector<std::int32_t> sure;
    for (const Draft& draft : drafts)
      if (draft.confidence > step.decode.threshold ||
          (draft.confidence > options_.least && best_of_its_run(draft)))
        sure.push_back(draft.position);
    std::stable_partition(drafts.begin(), drafts.end(), [&](const Draft& draft) {
      return std::count(sure.begin(), sure.end(), draft.position) > 0;
    });
    return static_cast<int>(sure.size());
  }

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(unmasker, hierarchical) {
  registries.unmaskers.add<draftlab::Hierarchical>(
      "hierarchical",
      "drafts above decode.threshold, and the best of each run of masks above `least` (dInfer)");
}
