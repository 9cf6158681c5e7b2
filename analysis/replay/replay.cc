#include "analysis/replay/replay.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "analysis/replay/logged_step.h"
#include "analysis/table.h"
#include "core/base/error.h"
#include "core/metrics/decode_metrics.h"
#include "core/prob/accepted_prefix.h"

namespace draftlab {
namespace {

constexpr int kBins = 10;

// Computes the mean and the spread of what is added.
struct Moments {
  double count = 0, sum = 0, squares = 0, absolute = 0;
  void add(double value) {
    ++count, sum += value, squares += value * value, absolute += std::abs(value);
  }
  double mean() const { return count > 0 ? sum / count : kNotMeasured; }
  double mean_absolute() const { return count > 0 ? absolute / count : kNotMeasured; }
  double spread() const {
    return count > 1 ? std::sqrt(std::max(0.0, (squares - sum * sum / count) / (count - 1)))
                     : kNotMeasured;
  }
};

// The sums of each prompt, for resampling prompts.
struct ByPrompt {
  std::vector<double> above, below;
  explicit ByPrompt(std::size_t prompts) : above(prompts, 0.0), below(prompts, 0.0) {}
  void add(std::int32_t prompt, double value, double weight = 1) {
    above[prompt] += value, below[prompt] += weight;
  }
  Estimate estimate() const {
    std::vector<double> columns[2];
    for (std::size_t i = 0; i < above.size(); ++i) {
      if (below[i] > 0) columns[0].push_back(above[i]), columns[1].push_back(below[i]);
    }
    if (columns[0].empty()) return {kNotMeasured, {kNotMeasured, kNotMeasured}};
    return cluster_bootstrap(
        columns, [](std::span<const double> s) { return s[1] > 0 ? s[0] / s[1] : kNotMeasured; });
  }
};

// Judges one estimator by the steps that it is told of.
class Judge {
 public:
  Judge(std::string name, std::size_t prompts)
      : name_(std::move(name)),
        error_(prompts),
        absolute_(prompts),
        brier_(prompts),
        bins_(kBins) {}

  void hear(std::int32_t prompt, const LoggedStep& step, double said, const Eigen::ArrayXd* alpha) {
    if (std::isnan(said)) return;
    error_.add(prompt, said - step.prefix);
    absolute_.add(prompt, std::abs(said - step.prefix));
    realised_.add(said - step.prefix);
    committed_.add(said - step.tokens());
    if (step.known()) {
      expected_.add(said - expected_accepted(step.accept));
      expected_committed_.add(said - draftlab::expected_committed(step.accept));
    }
    if (!alpha) return;
    double survival = 1, score = 0;
    for (int k = 1; k <= step.span(); ++k) {
      survival *= (*alpha)[k - 1];
      score += std::pow(survival - (step.prefix >= k), 2);
    }
    brier_.add(prompt, score);
    // Exact drafts need no guess.
    for (int d = step.exact; d < step.span(); ++d) {
      if (std::isnan(step.accept[d])) continue;
      const double a = std::clamp((*alpha)[d], 0.0, 1.0);
      EstimatorError::Bin& bin = bins_[std::min(kBins - 1, static_cast<int>(a * kBins))];
      bin.said += a;
      bin.was += step.accept[d];
      ++bin.drafts;
    }
  }

  EstimatorError result() const {
    EstimatorError error;
    error.name = name_;
    error.error = error_.estimate();
    error.absolute = absolute_.estimate();
    error.spread = realised_.spread();
    error.error_committed = committed_.mean();
    error.absolute_committed = committed_.mean_absolute();
    error.error_expected = expected_.mean();
    error.spread_expected = expected_.spread();
    error.absolute_expected = expected_.mean_absolute();
    error.error_expected_committed = expected_committed_.mean();
    error.brier = brier_.estimate();
    for (EstimatorError::Bin bin : bins_) {
      if (bin.drafts > 0)
        bin.said /= static_cast<double>(bin.drafts), bin.was /= static_cast<double>(bin.drafts);
      error.reliability.push_back(bin);
    }
    return error;
  }

 private:
  std::string name_;
  ByPrompt error_, absolute_, brier_;
  Moments realised_, committed_, expected_, expected_committed_;
  std::vector<EstimatorError::Bin> bins_;
};

// The worth of a decision: the tokens a forward that a step is expected to commit.
struct Worth {
  double verify = 0, skip = 0;
  double of(bool verified) const { return verified ? verify : skip; }
};

Worth worth_of(const LoggedStep& step, const ReplayRequest& request) {
  // Without a confident draft a step commits one token.
  const double unverified = std::max(1, step.view.preview);
  return {expected_committed(step.accept) / request.verify_cost, unverified / request.skip_cost};
}

// Counts the decisions of one router, or of a fixed rule, on the steps that it is told of.
class Ledger {
 public:
  Ledger(std::string name, std::size_t prompts) : name_(std::move(name)), value_(prompts) {}

  void hear(std::int32_t prompt, const LoggedStep& step, bool verify,
            const ReplayRequest& request) {
    ++steps_;
    verified_ += verify;
    agreed_ += verify == step.routed;
    if (step.known()) {
      const Worth worth = worth_of(step, request);
      rate_.add(worth.of(verify));
      best_.add(std::max(worth.verify, worth.skip));
    }
    const bool chance = step.propensity < 1;
    explored_ = explored_ || chance;
    shadowed_ = shadowed_ || step.verified != step.routed;
    if (verify != step.routed) return;
    const double weight = 1 / step.propensity;
    weights_ += weight;
    squares_ += weight * weight;
    value_.add(prompt, weight * step.committed, weight * step.forwards);
  }

  Decisions result() const {
    Decisions d;
    d.name = name_;
    d.steps = steps_;
    const double n = static_cast<double>(steps_);
    d.verified = n > 0 ? verified_ / n : kNotMeasured;
    d.agreement = n > 0 ? agreed_ / n : kNotMeasured;
    d.rate = rate_.mean(), d.best = best_.mean(), d.regret = best_.mean() - rate_.mean();
    d.effective = squares_ > 0 ? weights_ * weights_ / squares_ : 0;
    d.value = {kNotMeasured, {kNotMeasured, kNotMeasured}};
    if (!explored_)
      d.refused =
          "decisions on logged states: no propensities were logged (router = explore logs them)";
    else if (shadowed_)
      d.refused = "decisions on logged states: a shadow committed something else than was routed";
    else if (d.effective < kLeastEffective)
      d.refused = "effective sample size " + fixed(d.effective, 1) + " is below " +
                  fixed(kLeastEffective, 0);
    else
      d.value = value_.estimate();
    return d;
  }

 private:
  std::string name_;
  ByPrompt value_;
  std::int64_t steps_ = 0;
  double verified_ = 0, agreed_ = 0, weights_ = 0, squares_ = 0;
  Moments rate_, best_;
  bool explored_ = false, shadowed_ = false;
};

}  // namespace

Replay replay(const Frame& frame, const ReplayRequest& request) {
  for (const Frame::Arm& arm : frame.arms()) {
    const std::string* const verifier = arm.find("verifier");
    if (verifier && *verifier == "block")
      throw DataError(
          "arm '{}' was judged by verifier block, whose acceptance probabilities are of whole "
          "paths; replay needs those of each draft given the drafts before it",
          arm.run.arm);
  }
  Replay result;
  const std::size_t prompts = frame.prompts().size();
  std::vector<char> seen(prompts);
  Moments luck, prefix, length;

  const std::vector<std::string> stored = frame.estimators();
  std::vector<Judge> judges;
  std::vector<std::unique_ptr<Estimator>> estimators;
  for (const std::string& name : stored) judges.emplace_back(name + " (logged)", prompts);
  for (const auto& [name, bound] : request.estimators) {
    judges.emplace_back(name, prompts);
    estimators.push_back(bound.make());
  }
  std::vector<Ledger> ledgers;
  for (const char* name : {"as logged", "always", "never"}) ledgers.emplace_back(name, prompts);
  struct Running {
    std::unique_ptr<Router> router;
    std::unique_ptr<Estimator> estimator;
  };
  std::vector<Running> routers;
  for (const ReplayRequest::Candidate& candidate : request.routers) {
    ledgers.emplace_back(candidate.name, prompts);
    routers.push_back({nullptr, candidate.estimator ? candidate.estimator->make() : nullptr});
    if (candidate.router.make()->reads_expected() && !candidate.estimator) {
      throw UsageError("router '{}' reads an estimator, and none is named; add --estimator NAME",
                       candidate.name);
    }
  }

  std::int64_t sample = -1;
  // Routers are shown a canvas, and read nothing of it.
  std::unique_ptr<Canvas> canvas;
  each_step(frame, request.vocabulary, [&](const LoggedStep& step) {
    const std::int32_t prompt = frame.samples()[step.sample].prompt;
    ++result.steps;
    // A router learns only within a sequence.
    if (step.sample != sample) {
      sample = step.sample;
      canvas = std::make_unique<Canvas>(step.view.length,
                                        std::span<const std::pair<std::int32_t, Token>>{});
      for (std::size_t r = 0; r < routers.size(); ++r)
        routers[r].router = request.routers[r].router.make();
    }
    if (step.view.vocabulary < 2 && !request.estimators.empty()) {
      throw UsageError(
          "the trace does not say how many tokens the model knows, which estimators divide by; "
          "--vocabulary must");
    }
    if (step.prefix >= 0 && step.undecided) {
      ++result.judged;
      seen[prompt] = 1;
      prefix.add(step.prefix);
      length.add(step.span());
      if (step.known()) {
        ++result.known;
        luck.add(step.prefix - expected_accepted(step.accept));
      }
      for (std::size_t e = 0; e < stored.size(); ++e)
        judges[e].hear(prompt, step, step.stored[e], nullptr);
      for (std::size_t e = 0; e < estimators.size(); ++e) {
        const auto* tokens = dynamic_cast<const TokenEstimator*>(estimators[e].get());
        if (tokens) {
          const Eigen::ArrayXd alpha = tokens->alpha(step.view);
          judges[stored.size() + e].hear(prompt, step, estimators[e]->expected(step.view),
                                         alpha.size() >= step.span() ? &alpha : nullptr);
        } else {
          judges[stored.size() + e].hear(prompt, step, estimators[e]->expected(step.view), nullptr);
        }
      }
    }
    if (!step.undecided) return;
    const bool fixed_rules[] = {step.routed, true, false};
    for (int rule = 0; rule < 3; ++rule)
      ledgers[rule].hear(prompt, step, fixed_rules[rule], request);
    for (std::size_t r = 0; r < routers.size(); ++r) {
      StepView view = step.view;
      view.expected =
          routers[r].estimator ? routers[r].estimator->expected(step.view) : step.view.expected;
      Route route = routers[r].router->decide(view);
      ledgers[3 + r].hear(prompt, step, route.verify, request);
      // The router learns from what was done.
      route.verify = step.verified;
      Verdict verdict;
      verdict.commits.resize(static_cast<std::size_t>(std::max(0, step.committed)));
      routers[r].router->observe(*canvas, route, verdict);
    }
  });
  if (result.judged == 0) {
    throw DataError(
        "'{}' has no step whose drafts were judged; decode with decode.shadow = commit or observe, "
        "or a router that verifies",
        frame.files()[0].path);
  }
  result.prompts = std::count(seen.begin(), seen.end(), 1);
  result.luck = luck.mean(), result.luck_spread = luck.spread();
  result.prefix = prefix.mean(), result.length = length.mean();
  for (const Judge& judge : judges) result.estimators.push_back(judge.result());
  for (const Ledger& ledger : ledgers) result.routers.push_back(ledger.result());
  return result;
}

std::string replay_tables(const Replay& replay, bool reliability) {
  const auto plus = [](double value, int digits) {
    return std::isnan(value) ? std::string("-") : (value < 0 ? "" : "+") + fixed(value, digits);
  };
  const auto bounds = [](const Interval& i) {
    return std::isnan(i.low) ? std::string()
                             : " [" + fixed(i.low, 3) + ", " + fixed(i.high, 3) + "]";
  };
  std::string text =
      std::to_string(replay.judged) + " judged steps of " + std::to_string(replay.prompts) +
      " prompts: a span of " + fixed(replay.length, 2) + " drafts, of which " +
      fixed(replay.prefix, 3) + " were accepted in a row (K). Luck, K - E[K]: mean " +
      plus(replay.luck, 3) + ", sd " + fixed(replay.luck_spread, 3) + ", over " +
      std::to_string(replay.known) + " steps whose every acceptance probability is known.\n";
  if (replay.known < replay.judged)
    text +=
        "Where it is not (decode.shadow measures it past a rejection too), E[K] is not known and "
        "the step is left out of it.\n";
  if (!replay.estimators.empty()) {
    TextTable realised{{"estimator", "mean error", "std error", "MAE", "error, C", "MAE, C"}, {}};
    TextTable expected{{"estimator", "K^ - E[K]", "sd", "mean absolute", "K^ - E[C]", "Brier"}, {}};
    for (const EstimatorError& e : replay.estimators) {
      realised.rows.push_back({e.name, plus(e.error.value, 3) + bounds(e.error.interval),
                               fixed(e.spread, 3),
                               fixed(e.absolute.value, 3) + bounds(e.absolute.interval),
                               plus(e.error_committed, 3), fixed(e.absolute_committed, 3)});
      expected.rows.push_back({e.name, plus(e.error_expected, 3), fixed(e.spread_expected, 3),
                               fixed(e.absolute_expected, 3), plus(e.error_expected_committed, 3),
                               fixed(e.brier.value, 4) + bounds(e.brier.interval)});
    }
    text +=
        "\nAgainst what happened: K^ - K; beside it against C, the tokens committed with the "
        "replacement, which the S2D2 authors seem to mean\n" +
        realised.print() +
        "\nApart from luck, by the acceptance probabilities; Brier: sum over k of (S^_k - 1[K >= "
        "k])^2\n" +
        expected.print();
  }
  if (reliability) {
    for (const EstimatorError& e : replay.estimators) {
      TextTable bins{{e.name, "drafts", "said", "was"}, {}};
      for (int b = 0; b < static_cast<int>(e.reliability.size()); ++b) {
        const EstimatorError::Bin& bin = e.reliability[b];
        if (bin.drafts > 0)
          bins.rows.push_back({fixed(0.1 * b, 1) + " to " + fixed(0.1 * (b + 1), 1),
                               std::to_string(bin.drafts), fixed(bin.said, 3), fixed(bin.was, 3)});
      }
      if (!bins.rows.empty()) text += "\n" + bins.print();
    }
  }
  TextTable decisions{{"router", "steps", "verified", "as logged", "tokens/forward",
                       "better choice", "one-step regret", "value if it had decided", "ESS"},
                      {}};
  std::map<std::string, std::string> refused;
  for (const Decisions& d : replay.routers) {
    const bool shown = d.refused.empty();
    decisions.rows.push_back({d.name, std::to_string(d.steps), fixed(d.verified, 3),
                              fixed(d.agreement, 3), fixed(d.rate, 3), fixed(d.best, 3),
                              fixed(d.regret, 4),
                              shown ? fixed(d.value.value, 3) + bounds(d.value.interval) : "-",
                              d.effective > 0 && shown ? fixed(d.effective, 0) : "-"});
    if (!shown) refused[d.refused] += (refused[d.refused].empty() ? "" : ", ") + d.name;
  }
  text +=
      "\nDecisions on logged states; tokens a forward as E[C] or the confident drafts over the "
      "cost, where E[C] is known\n" +
      decisions.print();
  for (const auto& [reason, names] : refused)
    text += "No value for " + names + ": " + reason + ".\n";
  return text;
}

}  // namespace draftlab
