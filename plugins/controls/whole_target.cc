// A control: another acceptance rule, which judges every draft of a node against the whole target,
// as if the siblings before it had not been rejected. What a rejected sibling leaves of the target
// is then spent twice.
#include "core/config/plugin.h"
#include "core/parts/acceptance.h"

namespace draftlab {
namespace {

class WholeTarget final : public Acceptance {
 public:
  struct Options {
    std::string of = "speculative";
    void declare(OptionSet& set) {
      set.add("of", &of).help("The rule that judges; its options stand in this section.");
    }
  };
  WholeTarget(const Options&, std::unique_ptr<Acceptance> inner) : inner_(std::move(inner)) {}

  void begin(const Blocks& blocks, const DecodeOptions& decode) override {
    sampling_ = decode.sampling;
    inner_->begin(blocks, decode);
  }
  double probability(const Trial& trial) const override {
    const Distribution whole = shaped(trial.raw, sampling_);
    return inner_->probability({trial.token, whole, trial.drawn_from, trial.depth, trial.raw});
  }
  Distribution replacement(const Trial& trial) const override {
    const Distribution whole = shaped(trial.raw, sampling_);
    return inner_->replacement({trial.token, whole, trial.drawn_from, trial.depth, trial.raw});
  }

 private:
  std::unique_ptr<Acceptance> inner_;
  Sampling sampling_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(acceptance, whole_target) {
  registries.acceptance.add_around<draftlab::WholeTarget>(
      "whole-target",
      "a control: another rule against the whole target, whatever siblings left of it; lossy");
}
