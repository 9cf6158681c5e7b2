// Verifies when the span is long enough to pay for one more pass (S2D2, Sec. 4.3). The value 1
// verifies always, and the block size B only the first step of a block.
#include "core/config/plugin.h"
#include "core/parts/router.h"

namespace draftlab {
namespace {

class MinSpan final : public Router {
 public:
  struct Options {
    std::int64_t span = 2;
    void declare(OptionSet& set) {
      set.add("span", &span)
          .in(1, 4096)
          .help("Shortest span worth verifying, in tokens; 1 always verifies.");
    }
  };
  explicit MinSpan(const Options& options) : options_(options) {}
  Route decide(const StepView& step) const override {
    return {.verify = step.span.length >= options_.span, .score = kNotMeasured};
  }

 private:
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(router, min_span) {
  registries.routers.add<draftlab::MinSpan>("min-span", "verify spans of at least `span` tokens");
}
