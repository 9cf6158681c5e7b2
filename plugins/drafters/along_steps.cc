// Drafts along the reverse steps of a vector token (speculative diffusion, De Bortoli et al.,
// 2025). From the state that a token has reached, its next `ahead` states are drafted; the target
// answers the laws at all of them in one question; and each is coupled with what it was drafted
// from, from the front, until the two part. What stands there has the target's law, so decoding
// goes on from it, and the token is the target's own draw: nothing is left to verify, and only the
// number of questions shrinks, from one a reverse step to one for several. Drafts come from the
// draft model's head, or from no model at all: the last known law, moved along with the state
// (frozen), or the increments that the present state foretells (autospeculative decoding, Hu et
// al., 2025): what the head tells there of the token makes the laws of all later steps, which a
// shallow reverse question asks for, and the first of them is the target's own.
#include "plugins/drafters/along_steps.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/config/plugin.h"

namespace draftlab {

void AlongStepsOptions::declare(OptionSet& set) {
  set.add("states", &states)
      .help(
          "Draft by the target's last law, moved along; by the increments that the present state "
          "foretells (ASD), asked for in a question of its own; or by the draft model's head.");
  set.add("ahead", &ahead).in(1, 4096).help("Reverse steps that one question follows.");
}

Asking<Proposal> AlongSteps::propose(const Step& step) const {
  const std::int32_t position = step.window.positions.front();
  const ModelFacts& facts = step.models[0];
  const auto condition = [&](int model) {
    return step.ask({.kind = Kind::draft,
                     .view = step.models[model].view,
                     .nodes = {},
                     .asks = {{kRoot, {position}}}},
                    model);
  };
  const Answer answer = co_await condition(0);
  Guide guide;
  if (options_.states == StateDrafts::model) {
    const Answer of_draft = co_await condition(1);
    guide.condition = of_draft.condition(kRoot, position);
  }
  Trajectory token = begin_token(step, answer.condition(kRoot, position), 0,
                                 normals_at(step, step.site(position, Purpose::noise))(
                                     0, facts.reverse_steps + 1, facts.dimension));
  const std::unique_ptr<CoupledStates> coupled = couple(step, position);
  for (std::uint32_t round = 1; token.at() > 0; ++round) {
    guide.noise = normals_at(step, step.site(position, Purpose::noise), round);
    if (options_.states == StateDrafts::increments) {
      const Answer told = co_await step.ask(present(step, token), 0);
      guide.foretold.clear();
      for (const Mixture& law : told.laws) guide.foretold.push_back(step.drawn(law, 0));
      const Eigen::VectorXd first = guide.noise(0, token.at(), guide.foretold[0].noises());
      token.take(guide.foretold[0], first);
      if (token.at() == 0) break;
    }
    const int t = token.at();
    Asking<Drafts> drafting = draft(step, token, guide);
    const Drafts drafts = co_await drafting;
    std::vector<Reverse> questions;
    for (int i = 0; i < std::max(1, static_cast<int>(drafts.laws.size())); ++i)
      questions.push_back({token.condition, t - i, drafts.states[static_cast<std::size_t>(i)]});
    Asking<std::vector<Mixture>> asking = laws_of(step, std::move(questions), 0);
    std::vector<Mixture> laws = co_await asking;
    if (drafts.laws.empty()) {
      const Eigen::VectorXd first = guide.noise(0, t, laws[0].noises());
      token.take(std::move(laws[0]), first);
    }
    for (std::size_t i = 0; i < drafts.laws.size(); ++i)
      if (!coupled->take(token, laws[i], drafts.laws[i], drafts.states[i + 1])) break;
  }
  Proposal proposal;
  proposal.nodes.push_back({kRoot, position, 0, token.states.back()});
  proposal.trajectories.push_back(std::move(token));
  proposal.exact = 1;
  co_return proposal;
}

// Drafts the states behind the one that the token has reached. Without a known law nothing can be
// drafted, and the question is about the state alone.
Asking<AlongSteps::Drafts> AlongSteps::draft(const Step& step, const Trajectory& token,
                                             const Guide& guide) const {
  const bool by_model = options_.states == StateDrafts::model;
  const int t = token.at(), ahead = static_cast<int>(std::min<std::int64_t>(options_.ahead, t));
  Drafts drafts{.states = {token.states.back()}, .laws = {}};
  for (int s = t; s > t - ahead && (by_model || !token.laws.empty()); --s) {
    const Eigen::VectorXd& state = drafts.states.back();
    if (by_model) {
      std::vector<Reverse> question;
      question.push_back({guide.condition, s, state});
      Asking<std::vector<Mixture>> asking = laws_of(step, std::move(question), 1);
      const std::vector<Mixture> laws = co_await asking;
      drafts.laws.push_back(laws.front());
    } else if (options_.states == StateDrafts::increments) {
      drafts.laws.push_back(between(guide.foretold, 2 * (t - s) + 1, state));
    } else {
      drafts.laws.push_back(moved(token, state));
    }
    const Mixture& law = drafts.laws.back();
    drafts.states.push_back(law.at(guide.noise(0, s, law.noises())));
  }
  co_return drafts;
}

// Throws ConfigError unless a law of the target is a Gaussian, which drafts can be made of.
void AlongSteps::require_gaussian(const Mixture& law) const {
  if (!law.gaussian())
    throw ConfigError(
        "drafter.along-steps.states = {} moves a law of one component, and a reverse step of the "
        "target has several; use model",
        word(options_.states));
}

// The last law that the token was drawn from, with the same step from another state.
Mixture AlongSteps::moved(const Trajectory& token, const Eigen::VectorXd& state) const {
  const Mixture& law = token.laws.back();
  require_gaussian(law);
  const Eigen::VectorXd& from = token.states[token.states.size() - 2];
  return Mixture::normal(law.mean[0] + (state - from).array(), law.sigma[0]);
}

// Asks for the law of the next step, and what is told there of the token is to make those of the
// steps behind it. Their means are linear in the state, so that two states tell all of a step.
Question AlongSteps::present(const Step& step, const Trajectory& token) const {
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
Mixture AlongSteps::between(const std::vector<Mixture>& foretold, int index,
                            const Eigen::VectorXd& state) const {
  const Mixture &zero = foretold[static_cast<std::size_t>(index)],
                &one = foretold[static_cast<std::size_t>(index) + 1];
  require_gaussian(zero);
  return Mixture::normal(zero.mean[0] + (one.mean[0] - zero.mean[0]) * state.array(),
                         zero.sigma[0]);
}

}  // namespace draftlab

DRAFTLAB_PLUGIN(drafter, along_steps) {
  registries.drafters.add<draftlab::AlongSteps>(
      "along-steps",
      "drafts the reverse steps of one vector token, coupled one by one with the target's "
      "(speculative and autospeculative diffusion); lossless");
}
