// Prophet (Li et al., 2025; from the paper alone, without the authors' code): a block is decoded by
// its quota until the model knows the rest, which is then committed at once. The model knows the
// rest when the gap between its best and its second logit, in the mean over what is masked, is at
// least a threshold, which falls as the block is filled.
#include <cmath>

#include "core/config/plugin.h"
#include "plugins/unmaskers/quota.h"

namespace draftlab {
namespace {

class Prophet final : public QuotaUnmasker {
 public:
  struct Options {
    double early = 7.5, middle = 5, late = 2.5;
    void declare(OptionSet& set) {
      set.add("early", &early)
          .in(0, 1000)
          .help("Mean gap of logits that ends a block of which less than a third is filled.");
      set.add("middle", &middle)
          .in(0, 1000)
          .help("Mean gap of logits that ends a block of which one to two thirds are filled.");
      set.add("late", &late)
          .in(0, 1000)
          .help("Mean gap of logits that ends a block of which two thirds or more are filled.");
    }
  };
  explicit Prophet(const Options& options) : options_(options) {}
  std::vector<DecodeKey> reads() const override { return {DecodeKey::steps}; }

 private:
  int sure(const Step& step, std::vector<Draft>& drafts) const override {
    double gaps = 0;
    for (const Draft& draft : drafts) gaps += std::log(draft.peak / (draft.peak - draft.margin));
    const bool known = gaps >= enough(step) * static_cast<double>(drafts.size());
    return known ? static_cast<int>(drafts.size()) : 0;
  }

  double enough(const Step& step) const {
    const std::int32_t position = step.window.positions.front(), first = blocks().first(position),
                       end = blocks().end(position, step.canvas.length());
    int filled = 0;
    for (std::int32_t at = first; at < end; ++at) filled += !step.canvas.masked(at);
    const double share = static_cast<double>(filled) / (end - first);
    return share < 1.0 / 3 ? options_.early : share < 2.0 / 3 ? options_.middle : options_.late;
  }

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(unmasker, prophet) {
  registries.unmaskers.add<draftlab::Prophet>(
      "prophet",
      "all remaining drafts, once their best logits lead by enough in the mean (Prophet)");
}
