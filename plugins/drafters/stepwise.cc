// The sequential baseline: one token a forward, drawn from the target itself, so that there is
// nothing to verify.
#include "core/config/plugin.h"
#include "plugins/drafters/own_draw.h"

namespace draftlab {
namespace {

class Stepwise final : public Drafter {
 public:
  std::vector<DecodeKey> reads() const override { return {}; }
  bool is_sequential(bool /*has_draft_model*/) const override { return true; }
  std::vector<Form> asks() const override { return {Form::committed}; }
  Asking<Proposal> propose(const Step& step) const override { return own_draw(step); }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(drafter, stepwise) {
  registries.drafters.add<draftlab::Stepwise>(
      "stepwise", "one token a forward, drawn from the target: the sequential baseline");
}
