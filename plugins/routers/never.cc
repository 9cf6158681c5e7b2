// Routes every step past the verifier: the unmasker alone decides what is committed.
#include "core/config/plugin.h"
#include "core/parts/router.h"

namespace draftlab {
namespace {

class Never final : public Router {
 public:
  bool may_verify() const override { return false; }
  Route decide(const StepView&) const override { return {.verify = false}; }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(router, never) {
  registries.routers.add<draftlab::Never>("never", "verify at no step; the unmasker commits");
}
