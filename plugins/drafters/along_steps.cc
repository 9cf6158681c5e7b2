// Drafts along the reverse steps of a vector token (speculative diffusion, De Bortoli et al.,
// 2025). From the state that a token has reached, its next `ahead` states are drafted; the target
// answers the laws at all of them in one question; and each is coupled with what it was drafted
// from, from the front, until the two part. What stands there has the target's law, so decoding
// goes on from it, and the token is the target's own draw: nothing is left to verify, and only the
// number of questions shrinks, from one a reverse step to one for several. Drafts come from the
// draft model's head, or from no model at all: the last known law, moved along with the state
// (frozen), or the increments that the present state foretells (autospeculative decoding, Hu et
// al., 2025): what the head tells there of the token makes the laws of all later steps, which a
// shallow reverse question asks for, and the first of them is the target's own. The file is longer
// than that of other drafters because it judges, too.
#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "plugins/drafters/coupled_states.h"

namespace draftlab {
namespace {

// Where the drafted states come from.
enum class States { frozen, increments, model };
constexpr std::array<std::string_view, 3> words(States) {
  return {"frozen", "increments", "model"};
}

class AlongSteps final : public Drafter {
 public:
  struct Options {
    States states = States::frozen;
    Replacement replacement = Replacement::residual;
    std::int64_t ahead = 4;
    void declare(OptionSet& set) {
      set.add("states", &states)
          .help(
              "Draft by the target's last law, moved along; by the increments that the present "
              "state foretells (ASD), asked for in a question of its own; or by the draft model's "
              "head.");
      set.add("ahead", &ahead).in(1, 4096).help("Reverse steps that one question follows.");
      set.add("replacement", &replacement)
          .help(
              "A rejected state is reflected, or drawn from what the target has beyond the draft; "
              "or, not lossless, drawn from the target anew.");
    }
  };
  explicit AlongSteps(const Options& options) : options_(options) {}
  std::vector<DecodeKey> reads() const override { return {}; }
  std::vector<Form> asks() const override { return {Form::committed, Form::reverse}; }
  std::vector<Form> asks_draft_model() const override {
    if (options_.states != States::model) return {};
    return {Form::committed, Form::reverse};
  }

  Asking<Proposal> propose(const Step& step) const override {
    const std::int32_t position = step.window.positions.front();
    const ModelFacts& facts = step.models[0];
    const bool by_model = options_.states == States::model;
    const auto condition = [&](int model) {
      return step.ask({.kind = Kind::draft,
                       .view = step.models[model].view,
                       .nodes = {},
                       .asks = {{kRoot, {position}}}},
                      model);
    };
    const Answer answer = co_await condition(0);
    Answer of_draft;
    if (by_model) of_draft = co_await condition(1);

    Trajectory token = begin_token(step, answer.condition(kRoot, position), 0,
                                   normals_at(step, {position}, Purpose::noise, step.clock)(
                                       0, facts.reverse_steps + 1, facts.dimension));
    CoupledStates coupled(step, position, options_.replacement);
    for (std::uint32_t round = 1; token.at() > 0; ++round) {
      const Normals noise = normals_at(step, {position}, Purpose::noise, step.clock, round);
      std::vector<Mixture> foretold;
      if (options_.states == States::increments) {
        const Answer told = co_await step.ask(present(step, token), 0);
        for (const Mixture& law : told.laws) foretold.push_back(step.drawn(law, 0));
        const Eigen::VectorXd first = noise(0, token.at(), foretold[0].noises());
        token.take(foretold[0], first);
        if (token.at() == 0) break;
      }
      const int t = token.at(), ahead = static_cast<int>(std::min<std::int64_t>(options_.ahead, t));
      // Without a known law nothing can be drafted, and the question is about the state alone.
      std::vector<Eigen::VectorXd> states = {token.states.back()};
      std::vector<Mixture> drafted;
      for (int s = t; s > t - ahead && (by_model || !token.laws.empty()); --s) {
        if (by_model) {
          std::vector<Reverse> question;
          question.push_back({of_draft.condition(kRoot, position), s, states.back()});
          Asking<std::vector<Mixture>> asking = laws_of(step, std::move(question), 1);
          const std::vector<Mixture> laws = co_await asking;
          drafted.push_back(laws.front());
        } else if (options_.states == States::increments) {
          drafted.push_back(between(foretold, 2 * (t - s) + 1, states.back()));
        } else {
          drafted.push_back(moved(token, states.back()));
        }
        states.push_back(drafted.back().at(noise(0, s, drafted.back().noises())));
      }
      std::vector<Reverse> questions;
      for (int i = 0; i < std::max(1, static_cast<int>(drafted.size())); ++i)
        questions.push_back({token.condition, t - i, states[static_cast<std::size_t>(i)]});
      Asking<std::vector<Mixture>> asking = laws_of(step, std::move(questions), 0);
      std::vector<Mixture> laws = co_await asking;
      if (drafted.empty()) {
        const Eigen::VectorXd first = noise(0, t, laws[0].noises());
        token.take(std::move(laws[0]), first);
      }
      for (std::size_t i = 0; i < drafted.size(); ++i)
        if (!coupled.take(token, laws[i], drafted[i], states[i + 1])) break;
    }
    Proposal proposal;
    proposal.nodes.push_back({kRoot, position, 0, token.states.back()});
    proposal.trajectories.push_back(std::move(token));
    proposal.exact = 1;
    co_return proposal;
  }

 private:
  // Throws ConfigError unless a law of the target is a Gaussian, which drafts can be made of.
  void require_gaussian(const Mixture& law) const {
    if (!law.gaussian())
      throw ConfigError(
          "drafter.along-steps.states = {} moves a law of one component, and a reverse step of the "
          "target has several; use model",
          word(options_.states));
  }

  // The last law that the token was drawn from, with the same step from another state.
  Mixture moved(const Trajectory& token, const Eigen::VectorXd& state) const {
    const Mixture& law = token.laws.back();
    require_gaussian(law);
    const Eigen::VectorXd& from = token.states[token.states.size() - 2];
    return Mixture::normal(law.mean[0] + (state - from).array(), law.sigma[0]);
  }

  // Asks for the law of the next step, and what is told there of the token is to make those of the
  // steps behind it. Their means are linear in the state, so that two states tell all of a step.
  Question present(const Step& step, const Trajectory& token) const {
    const int t = token.at();
    const auto dimension = token.states.back().size();
    Question question{.kind = Kind::aux,
                      .view = step.models[0].view,
                      .nodes = {},
                      .asks = {},
                      .shallow = true,
                      .reverse = {{token.condition, t, token.states.back()}}};
    for (int s = t - 1; s > 0 && t - s <= options_.ahead; --s) {
      question.reverse.push_back({token.condition, s, Eigen::VectorXd::Zero(dimension)});
      question.reverse.push_back({token.condition, s, Eigen::VectorXd::Ones(dimension)});
    }
    return question;
  }

  // The law at a state, of those at zero and at one, which stand at `index` and behind it.
  Mixture between(const std::vector<Mixture>& foretold, int index,
                  const Eigen::VectorXd& state) const {
    const Mixture &zero = foretold[static_cast<std::size_t>(index)],
                  &one = foretold[static_cast<std::size_t>(index) + 1];
    require_gaussian(zero);
    return Mixture::normal(zero.mean[0] + (one.mean[0] - zero.mean[0]) * state.array(),
                           zero.sigma[0]);
  }

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(drafter, along_steps) {
  registries.drafters.add<draftlab::AlongSteps>(
      "along-steps",
      "drafts the reverse steps of one vector token, coupled one by one with the target's "
      "(speculative and autospeculative diffusion); lossless");
}
