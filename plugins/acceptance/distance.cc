// Accepts a draft near the target's most probable token, and keeps the draft: token ids are taken
// as values on a line, such as the intensities of an image (blockwise parallel decoding, Sec. 5.2).
#include <cstdlib>

#include "core/config/plugin.h"
#include "plugins/acceptance/greedy.h"

namespace draftlab {
namespace {

class Distance final : public GreedyAcceptance {
 public:
  struct Options : GreedyOptions {
    std::int64_t epsilon = 2;
    void declare(OptionSet& set) {
      set.add("epsilon", &epsilon)
          .in(0, 1e6)
          .help(
              "Largest difference of two token ids that counts as none; 0 is exact-match. The "
              "paper's images have 2.");
      GreedyOptions::declare(set);
    }
  };
  explicit Distance(const Options& options)
      : GreedyAcceptance(options), epsilon_(options.epsilon) {}

 private:
  bool accepts(const Trial& trial) const override {
    return std::abs(trial.token - trial.raw.argmax()) <= epsilon_;
  }
  std::int64_t epsilon_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(acceptance, distance) {
  registries.acceptance.add<draftlab::Distance>(
      "distance",
      "accept a token id within epsilon of the target's best (BPD, images); not lossless");
}
