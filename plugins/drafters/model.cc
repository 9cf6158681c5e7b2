// A separate, cheaper model drafts (speculative sampling, Leviathan et al. and Chen et al., 2023;
// with several drafts a node, SpecInfer). Its forwards are counted as its own.
#include "core/config/plugin.h"
#include "plugins/drafters/asked_models.h"
#include "plugins/drafters/one_by_one.h"

namespace draftlab {
namespace {

class DraftModel final : public Drafter {
 public:
  using Options = OneByOneOptions;
  explicit DraftModel(const Options& options) : options_(options) { options.tree(); }
  std::vector<Form> asks() const override { return {Form::committed}; }
  std::vector<Form> asks_draft_model() const override { return {Form::committed, Form::chain}; }
  Asking<Proposal> propose(const Step& step) const override {
    return draft_one_by_one(step, options_, kDraftModel, false);
  }

 private:
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(drafter, model) {
  registries.drafters.add<draftlab::DraftModel>(
      "model", "model.draft drafts token after token (speculative sampling, SpecInfer); lossless");
}
