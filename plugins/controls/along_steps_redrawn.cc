// A control: a reverse step whose draft is rejected is drawn anew from the target, and not from
// what the target has beyond the draft. What the draft likes is then drawn too often.
#include "core/config/plugin.h"
#include "plugins/drafters/along_steps.h"

namespace draftlab {
namespace {

class AlongStepsRedrawn final : public AlongSteps {
 public:
  using AlongSteps::AlongSteps;

 private:
  struct Redrawn final : CoupledStates {
    using CoupledStates::CoupledStates;
    Eigen::VectorXd replacement(const Mixture& p, const Mixture&, const Eigen::VectorXd&) override {
      return draw(p);
    }
  };
  std::unique_ptr<CoupledStates> couple(const Step& step, std::int32_t position) const override {
    return std::make_unique<Redrawn>(step, position);
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(drafter, along_steps_redrawn) {
  registries.drafters.add<draftlab::AlongStepsRedrawn>(
      "along-steps-redrawn",
      "a control: along-steps, with rejected states drawn from the target anew; lossy");
}
