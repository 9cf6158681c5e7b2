// Drafts along the reverse steps of a vector token (speculative diffusion, De Bortoli et al.,
// 2025). From the state that a token has reached, its next `ahead` states are drafted; the target
// answers the laws at all of them in one question; and each is coupled with what it was drafted
// from, from the front, until the two part. What stands there has the target's law, so decoding
// goes on from it, and the token is the target's own draw: nothing is left to verify, and only the
// number of questions shrinks, from one a reverse step to one for several. Drafts come from the
// draft model's head, or from no model at all: the last known law, moved along with the state
// (frozen). The file is longer than that of other drafters because it judges, too.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "core/parts/vector_draw.h"

namespace draftlab {
namespace {

// Where the drafted states come from.
enum class States { frozen, model };
constexpr std::array<std::string_view, 2> words(States) { return {"frozen", "model"}; }

// What replaces a state that is rejected.
enum class Replacement { residual, plain };
constexpr std::array<std::string_view, 2> words(Replacement) { return {"residual", "plain"}; }

class AlongSteps final : public Drafter {
 public:
  struct Options {
    States states = States::frozen;
    Replacement replacement = Replacement::residual;
    std::int64_t ahead = 4;
    void declare(OptionSet& set) {
      set.add("states", &states)
          .help("Draft by the target's last law, moved along; or by the draft model's head.");
      set.add("ahead", &ahead).in(1, 4096).help("Reverse steps that one question follows.");
      set.add("replacement", &replacement)
          .help(
              "A rejected state is reflected, or drawn from what the target has beyond the draft; "
              "or, not lossless, drawn from the target anew.");
    }
  };
  explicit AlongSteps(const Options& options) : options_(options) {}
  bool reads_draft_length() const override { return false; }
  std::vector<Form> asks() const override { return {Form::committed, Form::reverse}; }
  std::vector<Form> asks_draft_model() const override {
    if (options_.states == States::frozen) return {};
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
    Residuals residuals{step, position};
    for (std::uint32_t round = 1; token.at() > 0; ++round) {
      const int t = token.at(), ahead = static_cast<int>(std::min<std::int64_t>(options_.ahead, t));
      const Normals noise = normals_at(step, {position}, Purpose::noise, step.clock, round);
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
        continue;
      }
      bool together = true;
      for (std::size_t i = 0; i < drafted.size() && together; ++i) {
        const Mixture &p = laws[i], &q = drafted[i];
        const Eigen::VectorXd& draft = states[i + 1];
        const double ratio = std::exp(p.log_density(draft) - q.log_density(draft));
        together = residuals.below(std::min(1.0, ratio));
        token.states.push_back(together ? draft
                               : options_.replacement == Replacement::plain
                                   ? residuals.draw(p)
                                   : residuals.of(p, q, draft));
        token.laws.push_back(p);
        token.noise.push_back({});
      }
    }
    Proposal proposal;
    proposal.nodes.push_back({kRoot, position, 0, token.states.back()});
    proposal.trajectories.push_back(std::move(token));
    proposal.exact = 1;
    co_return proposal;
  }

 private:
  // The last law that the token was drawn from, with the same step from another state.
  static Mixture moved(const Trajectory& token, const Eigen::VectorXd& state) {
    const Mixture& law = token.laws.back();
    if (!law.gaussian())
      throw ConfigError(
          "drafter.along-steps.states = frozen moves a law of one component, and a reverse step of "
          "the target has several; use model");
    const Eigen::VectorXd& from = token.states[token.states.size() - 2];
    return Mixture::normal(law.mean[0] + (state - from).array(), law.sigma[0]);
  }

  // Decisions and draws of one token, each at an address of its own.
  struct Residuals {
    const Step& step;
    const std::int32_t position;
    std::uint32_t decided = 0, drawn = 0;

    bool below(double probability) {
      return step.chance.below(probability, step.site(position, Purpose::accept, decided++));
    }
    Eigen::VectorXd draw(const Mixture& p) {
      const auto each = static_cast<std::uint32_t>(p.noises());
      if (drawn > std::numeric_limits<std::uint32_t>::max() - each)
        throw Fault("a reverse step was drawn too often in vain");
      const Site site = step.site(position, Purpose::residual, drawn);
      drawn += each;
      return p.at(normals(step.chance, site, static_cast<int>(each)));
    }
    // What the target has beyond the draft: the draft's mirror image where the deviations are the
    // same, else the first of the target's draws that the draft would not have made.
    Eigen::VectorXd of(const Mixture& p, const Mixture& q, const Eigen::VectorXd& draft) {
      if (p.gaussian() && q.gaussian() && (p.sigma[0] == q.sigma[0]).all()) {
        const Eigen::VectorXd apart = ((q.mean[0] - p.mean[0]) / p.sigma[0]).matrix().normalized();
        const Eigen::VectorXd noise = ((draft.array() - q.mean[0]) / q.sigma[0]).matrix();
        return p.mean[0] + p.sigma[0] * (noise - 2 * apart.dot(noise) * apart).array();
      }
      for (;;) {
        const Eigen::VectorXd y = draw(p);
        if (below(1 - std::min(1.0, std::exp(q.log_density(y) - p.log_density(y))))) return y;
      }
    }
  };

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(drafter, along_steps) {
  registries.drafters.add<draftlab::AlongSteps>(
      "along-steps",
      "drafts the reverse steps of one vector token, coupled one by one with the target's "
      "(speculative diffusion); lossless");
}
