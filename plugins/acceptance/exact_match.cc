// Accepts a draft that is the target's most probable token (blockwise parallel decoding, Sec. 3).
#include "core/config/plugin.h"
#include "plugins/acceptance/greedy.h"

namespace draftlab {
namespace {

class ExactMatch final : public GreedyAcceptance {
 public:
  using Options = GreedyOptions;
  explicit ExactMatch(const Options& options) : GreedyAcceptance(options) {}

 private:
  bool accepts(const Trial& trial) const override { return trial.token == trial.raw.argmax(); }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(acceptance, exact_match) {
  registries.acceptance.add<draftlab::ExactMatch>(
      "exact-match",
      "accept the target's most probable token (BPD); lossless at temperature 0, not above");
}
