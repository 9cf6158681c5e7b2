// A router: it decides after each draft whether a verification is worth a forward of the model.
// This one verifies spans of at least `span` tokens.
#include "core/config/plugin.h"

namespace {

class LongSpans final : public draftlab::Router {
 public:
  struct Options {
    std::int64_t span = 2;
    void declare(draftlab::OptionSet& set) {
      set.add("span", &span).in(1, 4096).help("Shortest span that is verified, in tokens.");
    }
  };
  explicit LongSpans(const Options& options) : options_(options) {}

  draftlab::Route decide(const draftlab::StepView& step) const override {
    return {.verify = step.span.length >= options_.span};
  }

 private:
  Options options_;
};

}  // namespace

DRAFTLAB_SHARED_PLUGIN() {
  registries.routers.add<LongSpans>("long-spans", "verify spans of at least `span` tokens");
}
