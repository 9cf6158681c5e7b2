// Reverses the decision of another router with a small probability, and logs with which probability
// each decision was taken. The routers of S2D2 are deterministic, and a run logged with one of them
// says nothing of what another router would have done. Where both branches are exact, so is the
// reversed decision, because the coin does not look at what was drafted.
#include "core/config/plugin.h"
#include "core/parts/router.h"

namespace draftlab {
namespace {

class Explore final : public Router {
 public:
  struct Options {
    std::string of = "min-span";
    double epsilon = 0.1;
    void declare(OptionSet& set) {
      set.add("of", &of).help("The router that is explored; its options stand in this section.");
      set.add("epsilon", &epsilon)
          .in(0, 0.5)
          .help("Probability with which a decision is reversed.");
    }
  };
  Explore(const Options& options, std::unique_ptr<Router> inner)
      : options_(options), inner_(std::move(inner)) {}

  bool reads_expected() const override { return inner_->reads_expected(); }
  bool may_verify() const override { return options_.epsilon > 0 || inner_->may_verify(); }
  std::vector<Form> asks() const override { return inner_->asks(); }
  Route decide(const StepView& step) const override {
    Route route = inner_->decide(step);
    route.flip = options_.epsilon;
    return route;
  }
  void observe(const Canvas& canvas, const Route& route, const Verdict& verdict) override {
    inner_->observe(canvas, route, verdict);
  }
  std::string state() const override { return inner_->state(); }

 private:
  Options options_;
  std::unique_ptr<Router> inner_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(router, explore) {
  registries.routers.add_around<draftlab::Explore>(
      "explore", "another router, reversed with probability `epsilon`; logs propensities");
}
