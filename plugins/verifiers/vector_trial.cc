#include "plugins/verifiers/vector_trial.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/words.h"

namespace draftlab {
namespace {

// One reverse question follows at most so many proposals.
constexpr std::int64_t kMostAtOnce = 64;

}  // namespace

void DensityOptions::declare(OptionSet& set) {
  set.add("mode", &mode)
      .help(
          "Judge the last k reverse steps by the ratio of their densities; couple every reverse "
          "step by reflection; or judge a head of one reverse step by its closed form.");
  set.add("k", &k).in(0, 100000).help(
      "k-split: so many last reverse steps are judged on the draft's path, and those before them "
      "share its noise; 0: all are judged.");
  declare_common(set);
}

void DensityOptions::declare_common(OptionSet& set) {
  set.add("context", &context)
      .help(
          "A draft is judged given those before it, and the first rejection ends the step; or each "
          "given the committed state alone, whatever became of the others (the authors' program: "
          "at best the target at draft_length tokens a step).");
  set.add("bonus", &bonus)
      .help(
          "Ask one position more, and commit the target's draw there when every draft is "
          "accepted.");
  set.add("aligned", &aligned)
      .help("The target's own reverse steps take the draft's noise; false: noise of their own.");
  set.add("cap", &cap)
      .in(1, 1e6)
      .help(
          "Proposals of the residual, after which a plain draw of the target is taken, and counted "
          "(the authors' program: 100).");
}

std::vector<Eigen::VectorXd> path_of(const Trajectory& token) {
  return {token.states.begin(), token.states.end() - 1};
}

void VectorTrial::check(const Trajectory& draft) const {
  const DensityOptions& options = rule_.options;
  const int steps = draft.steps;
  const auto refuse = [&](const std::string& why) {
    throw ConfigError("verifier.density.mode = {} {}", word(options.mode), why);
  };
  if (!rule_.other) {
    if (options.mode == DensityMode::closed_form && steps != 1)
      refuse("judges heads with one reverse step, and this model's has " + std::to_string(steps) +
             "; use k-split");
    if (options.k > steps)
      refuse("and k = " + std::to_string(options.k) + ", but the model draws a token in " +
             std::to_string(steps) + " reverse steps");
    if (!draft.final_noise)
      refuse(
          "needs a density of the last reverse step; drafter.diffusion.final_noise must be true");
  }
  if (static_cast<double>(options.cap + 1) * (steps + 1) * (step_.models[0].dimension + 1) >=
      4294967296.0)
    throw ConfigError(
        "a residual with cap = {} proposals of {} steps needs more random numbers than a token "
        "has; lower the cap",
        options.cap, steps);
}

VectorTrial::VectorTrial(const Step& step, const DensityRule& rule, VectorDraft draft)
    : step_(step), rule_(rule), position_(draft.position), draft_(draft.trajectory) {
  check(draft_);
  const DensityOptions& options = rule_.options;
  const int steps = draft_.steps;
  k_ = rule_.other                                             ? 1
       : options.mode == DensityMode::k_split && options.k > 0 ? static_cast<int>(options.k)
                                                               : steps;
  const bool shares = options.aligned || k_ == steps;
  own_ = begin_token(
      step, std::move(draft.condition), 0,
      shares ? draft_.states.front() : target_noise()(0, steps + 1, step.models[0].dimension));
  own_.final_noise = draft_.final_noise;
}

Normals VectorTrial::target_noise() const {
  if (!rule_.options.aligned) return normals_at(step_, step_.site(position_, Purpose::own_noise));
  return [this](std::size_t, int t, int count) {
    const Eigen::VectorXd& shared = draft_.noise_of(t);
    if (shared.size() < count)
      throw ConfigError(
          "draft and target share noise only where their heads have equally many components; "
          "verifier.density.aligned must be false");
    return shared;
  };
}

Asking<bool> measure(const Step& step, std::vector<VectorTrial>& trials) {
  if (trials.empty()) co_return true;
  const int k = trials.front().k_;
  std::vector<Trajectory> own;
  for (VectorTrial& trial : trials) own.push_back(std::move(trial.own_));
  const Normals noise = [&](std::size_t token, int t, int count) {
    return trials[token].target_noise()(0, t, count);
  };
  Asking<bool> sharing = draw_down(step, own, k, noise);
  co_await sharing;

  std::vector<Reverse> questions;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    trials[i].own_ = std::move(own[i]);
    for (int t = k; t >= 1; --t)
      questions.push_back({trials[i].own_.condition, t,
                           t == k ? trials[i].own_.states.back() : trials[i].draft_.state(t)});
  }
  Asking<std::vector<Mixture>> asking = laws_of(step, std::move(questions), 0);
  std::vector<Mixture> laws = co_await asking;

  for (std::size_t i = 0; i < trials.size(); ++i) {
    VectorTrial& trial = trials[i];
    const auto from = laws.begin() + static_cast<std::ptrdiff_t>(i) * k;
    trial.tail_.assign(std::make_move_iterator(from), std::make_move_iterator(from + k));
    trial.weigh();
  }
  co_return true;
}

void VectorTrial::weigh() {
  double coupled = 1;
  for (int t = k_; t >= 1; --t) {
    const Eigen::VectorXd& y = draft_.state(t - 1);
    const double log_p = tail_[k_ - t].log_density(y), log_q = draft_.law(t).log_density(y);
    log_target_ += log_p;
    log_drawn_ += log_q;
    if (reflects()) coupled *= rule_.acceptance.probability(log_p, log_q);
  }
  if (reflects())
    accept_ = coupled;
  else if (rule_.other)
    accept_ = rule_.other->accepts(rule_.acceptance, log_factor(), {&tail_[0], &draft_.law(1)},
                                   draft_.state(0));
  else
    accept_ = rule_.acceptance.probability(log_target_, log_drawn_);
}

double VectorTrial::log_factor() const {
  if (!rule_.other) return 0;
  double log_sigma = 0;
  for (int t = draft_.steps; t >= 1; --t) {
    const Mixture &p = t > 1 ? own_.law(t) : tail_[0], &q = draft_.law(t);
    if (!p.gaussian() || !q.gaussian())
      throw ConfigError(
          "verifier.density-published judges heads of one component, and a reverse step has "
          "several");
    if (t > 1) log_sigma += q.sigma[0].log().sum() - p.sigma[0].log().sum();
  }
  return rule_.other->log_factor(log_sigma);
}

Judged VectorTrial::judged(bool reached) const {
  return {.target = kNotMeasured,
          .drawn = kNotMeasured,
          .accept = accept_,
          .accepted = false,
          .reached = reached,
          .vector = {.log_target = log_target_, .log_drawn = log_drawn_}};
}

Asking<Vector> VectorTrial::decide(Judged& judged) const {
  if (reflects()) {
    Asking<Vector> coupling = couple(judged);
    Vector coupled = co_await coupling;
    co_return coupled;
  }
  judged.accepted = step_.chance.below(accept_, step_.site(position_, Purpose::accept));
  if (!judged.accepted) {
    Asking<Vector> replacing = replace(judged);
    Vector replaced = co_await replacing;
    co_return replaced;
  }
  Vector kept{draft_.states.back(), own_.states};
  for (int t = k_ - 1; t >= 1; --t) kept.path.push_back(draft_.state(t));
  co_return kept;
}

// Draws from the target from x_k on until a draw is taken: the ones taken are those that the draft
// model would hardly have made. More are drawn at once the longer it takes; which one is taken does
// not depend on that.
Asking<Vector> VectorTrial::replace(Judged& judged) const {
  const double factor = log_factor();
  std::int64_t at_once = 1;
  for (std::int64_t made = 0; made < rule_.options.cap;
       made += at_once, at_once = k_ == 1 ? 1 : std::min(2 * at_once, kMostAtOnce)) {
    const std::int64_t count = std::min(at_once, rule_.options.cap - made);
    std::vector<std::vector<Eigen::VectorXd>> paths(static_cast<std::size_t>(count),
                                                    {own_.states.back()});
    std::vector<double> log_target(paths.size(), factor), log_drawn(paths.size(), 0);
    for (int t = k_; t >= 1; --t) {
      std::vector<Mixture> p, q;
      if (t == k_) {  // All of them stand at x_k.
        p.assign(paths.size(), tail_[0]);
        q.assign(paths.size(), draft_.law(t));
      } else {
        std::vector<Reverse> of_target, of_draft;
        for (const auto& path : paths)
          of_target.push_back({own_.condition, t, path.back()}),
              of_draft.push_back({draft_.condition, t, path.back()});
        Asking<std::vector<Mixture>> asking = laws_of(step_, std::move(of_target), 0),
                                     asking_draft =
                                         laws_of(step_, std::move(of_draft), draft_.model);
        p = co_await asking;
        q = co_await asking_draft;
      }
      for (std::size_t i = 0; i < paths.size(); ++i) {
        const Normals noise =
            normals_at(step_, step_.site(position_, Purpose::residual),
                       static_cast<std::uint32_t>(made) + static_cast<std::uint32_t>(i));
        paths[i].push_back(p[i].at(noise(0, t, p[i].noises())));
        log_target[i] += p[i].log_density(paths[i].back());
        log_drawn[i] += q[i].log_density(paths[i].back());
      }
    }
    for (std::size_t i = 0; i < paths.size(); ++i) {
      ++judged.vector.proposals;
      const auto attempt = static_cast<std::uint32_t>(judged.vector.proposals);
      if (!step_.chance.below(rule_.acceptance.replaces(log_target[i], log_drawn[i]),
                              step_.site(position_, Purpose::accept, attempt)))
        continue;
      Vector taken{paths[i].back(), {own_.states.begin(), own_.states.end() - 1}};
      taken.path.insert(taken.path.end(), paths[i].begin(), paths[i].end() - 1);
      co_return taken;
    }
  }
  judged.vector.capped = true;
  if (rule_.other && rule_.other->leaves_zeros()) {
    Vector zeros{Eigen::VectorXd::Zero(own_.states.back().size()), {}};
    co_return zeros;
  }
  Asking<Vector> drawing = plain(static_cast<std::uint32_t>(rule_.options.cap));
  Vector drawn = co_await drawing;
  co_return drawn;
}

Asking<Vector> VectorTrial::plain(std::uint32_t draw) const {
  std::vector<Trajectory> token = {own_};
  const Normals noise = normals_at(step_, step_.site(position_, Purpose::residual), draw);
  Asking<bool> drawing = draw_down(step_, token, 0, noise);
  co_await drawing;
  Vector drawn{token.front().states.back(), path_of(token.front())};
  co_return drawn;
}

// Both heads take the reverse steps together as long as they stay in one state: each step is a
// maximal coupling of the two laws there. From the step at which they part, the target goes on
// alone.
Asking<Vector> VectorTrial::couple(Judged& judged) const {
  Trajectory token = own_;  // It stands at y_K.
  judged.accepted = true;
  for (int t = draft_.steps; t >= 1 && judged.accepted; --t) {
    const Mixture &p = tail_[static_cast<std::size_t>(draft_.steps - t)], &q = draft_.law(t);
    const Eigen::VectorXd& y = draft_.state(t - 1);
    const double chance = rule_.acceptance.probability(p.log_density(y), q.log_density(y));
    judged.accepted = step_.chance.below(
        chance,
        step_.site(position_, Purpose::accept, static_cast<std::uint32_t>(draft_.steps - t)));
    token.states.push_back(judged.accepted ? y : residual(t, p, q, judged));
    token.laws.push_back(p);
    token.noise.push_back({});
  }
  std::vector<Trajectory> alone = {std::move(token)};
  const Normals noise = [&](std::size_t, int t, int count) { return target_noise()(0, t, count); };
  Asking<bool> drawing = draw_down(step_, alone, 0, noise);
  co_await drawing;
  Vector coupled{alone.front().states.back(), path_of(alone.front())};
  co_return coupled;
}

// Finds what replaces the draft's step where it is rejected. With equal deviations the noise is
// mirrored in the plane between the two means, which needs no draw; otherwise draws are rejected
// until one fits. No network is asked.
Eigen::VectorXd VectorTrial::residual(int t, const Mixture& p, const Mixture& q,
                                      Judged& judged) const {
  if (!p.gaussian() || !q.gaussian())
    throw ConfigError(
        "verifier.density.mode = reflection couples heads of one component, and a reverse step has "
        "several; use k-split");
  if ((p.sigma[0] == q.sigma[0]).all()) {
    const Eigen::VectorXd apart = ((q.mean[0] - p.mean[0]) / p.sigma[0]).matrix().normalized();
    const Eigen::VectorXd noise = ((draft_.state(t - 1).array() - q.mean[0]) / q.sigma[0]).matrix();
    return p.mean[0] + p.sigma[0] * (noise - 2 * apart.dot(noise) * apart).array();
  }
  // Accepting the steps used the attempts before this one.
  const auto first = static_cast<std::uint32_t>(draft_.steps);
  for (std::uint32_t made = 0;; ++made) {
    const bool last = made == rule_.options.cap;
    const Eigen::VectorXd y =
        p.at(normals_at(step_, step_.site(position_, Purpose::residual), made)(0, t, p.noises()));
    judged.vector.capped = last;
    if (last) return y;
    ++judged.vector.proposals;
    if (step_.chance.below(rule_.acceptance.replaces(p.log_density(y), q.log_density(y)),
                           step_.site(position_, Purpose::accept, first + made)))
      return y;
  }
}

}  // namespace draftlab
