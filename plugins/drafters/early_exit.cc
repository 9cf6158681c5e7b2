// The target's first layers and its head draft (LayerSkip, Elhoushi et al., 2024); the model says
// how many layers those are. Such a forward counts as one of the target, of kind draft, and its
// cost shows in its time.
#include "core/config/plugin.h"
#include "plugins/drafters/one_by_one.h"

namespace draftlab {
namespace {

constexpr int kTarget = 0;

class EarlyExit final : public Drafter {
 public:
  using Options = OneByOneOptions;
  explicit EarlyExit(const Options& options) : options_(options) { options.tree(); }
  std::vector<Form> asks() const override { return {Form::shallow, Form::committed}; }
  Asking<Proposal> propose(const Step& step) const override {
    return draft_one_by_one(step, options_, kTarget, true);
  }

 private:
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(drafter, early_exit) {
  registries.drafters.add<draftlab::EarlyExit>("early-exit",
                                               "the target's first layers draft token after token "
                                               "(LayerSkip); lossless");
}
