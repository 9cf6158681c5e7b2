// Routes every step to the verifier.
#include "core/config/plugin.h"
#include "core/parts/router.h"

namespace draftlab {
namespace {

class Always final : public Router {
 public:
  Route decide(const StepView&) const override { return {.verify = true}; }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(router, always) {
  registries.routers.add<draftlab::Always>("always", "verify at every step");
}
