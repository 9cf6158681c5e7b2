// Drafts along the reverse steps of a vector token, coupled with the target's (along_steps.cc).
#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "core/parts/drafter.h"
#include "plugins/drafters/coupled_states.h"

namespace draftlab {

// Where the drafted states come from.
enum class StateDrafts { frozen, increments, model };
constexpr std::array<std::string_view, 3> words(StateDrafts) {
  return {"frozen", "increments", "model"};
}

struct AlongStepsOptions {
  StateDrafts states = StateDrafts::frozen;
  std::int64_t ahead = 4;
  void declare(OptionSet& set);
};

class AlongSteps : public Drafter {
 public:
  using Options = AlongStepsOptions;
  explicit AlongSteps(const Options& options) : options_(options) {}
  std::vector<DecodeKey> reads() const override { return {}; }
  std::vector<Form> asks() const override { return {Form::committed, Form::reverse}; }
  std::vector<Form> asks_draft_model() const override {
    if (options_.states != StateDrafts::model) return {};
    return {Form::committed, Form::reverse};
  }
  Asking<Proposal> propose(const Step& step) const override;

 protected:
  // Makes the coupling of one token.
  virtual std::unique_ptr<CoupledStates> couple(const Step& step, std::int32_t position) const {
    return std::make_unique<CoupledStates>(step, position);
  }

 private:
  // What states are drafted from beside the token itself: the draft model's condition, or the laws
  // that were foretold; and the noise of the round.
  struct Guide {
    Eigen::VectorXd condition;
    std::vector<Mixture> foretold;
    Normals noise;
  };
  // The drafted states, the token's own first, and the laws that the others were drawn from.
  struct Drafts {
    std::vector<Eigen::VectorXd> states;
    std::vector<Mixture> laws;
  };
  Asking<Drafts> draft(const Step& step, const Trajectory& token, const Guide& guide) const;
  Question present(const Step& step, const Trajectory& token) const;
  void require_gaussian(const Mixture& law) const;
  Mixture moved(const Trajectory& token, const Eigen::VectorXd& state) const;
  Mixture between(const std::vector<Mixture>& foretold, int index,
                  const Eigen::VectorXd& state) const;

  Options options_;
};

}  // namespace draftlab
