// A plugin out of tree, as those of examples/plugins/ are.
#include "core/config/plugin.h"

namespace {

class EvenSteps final : public draftlab::Router {
 public:
  struct Options {
    std::int64_t every = 2;
    void declare(draftlab::OptionSet& set) {
      set.add("every", &every).in(1, 100).help("Verify one step in so many.");
    }
  };
  explicit EvenSteps(const Options& options) : options_(options) {}
  draftlab::Route decide(const draftlab::StepView& view) const override {
    return {.verify = view.step % options_.every == 0};
  }

 private:
  Options options_;
};

}  // namespace

DRAFTLAB_SHARED_PLUGIN() {
  registries.routers.add<EvenSteps>("even-steps", "verify every other step");
}
