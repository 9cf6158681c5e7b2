// The target drafts for itself, the cheap way that it has: its first layers and its head
// (LayerSkip, Elhoushi et al., 2024), or a layer that reads the hidden states which the last
// verification left (EAGLE, Li et al., 2024; EAGLE-3; MTP). The model's options say which. Such a
// forward counts as one of the target, of kind draft, and its cost shows in its time.
#include "core/config/plugin.h"
#include "plugins/drafters/asked_models.h"
#include "plugins/drafters/one_by_one.h"

namespace draftlab {
namespace {

class Shallow final : public Drafter {
 public:
  using Options = OneByOneOptions;
  explicit Shallow(const Options& options) : options_(options) { options.tree(); }
  std::vector<Form> asks() const override { return {Form::shallow, Form::committed}; }
  Asking<Proposal> propose(const Step& step) const override {
    return draft_one_by_one(step, options_, kTarget, true);
  }

 private:
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(drafter, shallow) {
  registries.drafters.add<draftlab::Shallow>(
      "shallow",
      "the target's first layers (LayerSkip) or its feature head (EAGLE, MTP) draft token after "
      "token; lossless");
}
