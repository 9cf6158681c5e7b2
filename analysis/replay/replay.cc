#include "analysis/replay/replay.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "analysis/replay/logged_step.h"
#include "core/base/error.h"
#include "core/base/table.h"
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

// Counts the decisions of one router, or of a fixed rule, on the steps that it is told of.
class Ledger {
 public:
  explicit Ledger(std::string name) : name_(std::move(name)) {}

  void hear(const LoggedStep& step, bool verify) {
    ++steps_;
    verified_ += verify;
    agreed_ += verify == step.routed;
  }

  Decisions result() const {
    Decisions d;
    d.name = name_;
    d.steps = steps_;
    const double n = static_cast<double>(steps_);
    d.verified = n > 0 ? verified_ / n : kNotMeasured;
    d.agreement = n > 0 ? agreed_ / n : kNotMeasured;
    return d;
  }

 private:
  std::string name_;
  std::int64_t steps_ = 0;
  double verified_ = 0, agreed_ = 0;
};

void check_arms(const Frame& frame) {
  for (const Frame::Arm& arm : frame.arms()) {
    if (arm.run.judges_paths)
      throw DataError(
          "the verifier of arm '{}' judged whole paths, and its acceptance probabilities are of "
          "these; replay needs those of each draft given the drafts before it",
          arm.run.arm);
  }
}

// Whether the arm was decoded with this very estimator. What it expected then stands in the trace
// as its router read it, where drafts' own numbers are rounded.
bool decoded_with(const Factory<Estimator>& estimator, const Frame& frame, int arm) {
  if (frame.key(arm, "estimator") != estimator.name) return false;
  const std::string section = "estimator." + estimator.name + ".";
  return std::all_of(estimator.values.begin(), estimator.values.end(), [&](const auto& option) {
    return frame.key(arm, section + option.first) == option.second;
  });
}

// Asks estimators and routers about step after step.
class Replaying {
 public:
  Replaying(const Frame& frame, const ReplayRequest& request)
      : frame_(frame),
        request_(request),
        stored_(frame.estimators()),
        seen_(frame.prompts().size()),
        off_policy_(frame, names_of(request)) {
    const std::size_t prompts = frame.prompts().size();
    for (const std::string& name : stored_) judges_.emplace_back(name + " (logged)", prompts);
    logged_.resize(stored_.size());
    for (const auto& [name, bound] : request.estimators) {
      judges_.emplace_back(name, prompts);
      estimators_.push_back(bound.make());
    }
    ledgers_.emplace_back("as logged");
    for (const std::string& name : names_of(request)) ledgers_.emplace_back(name);
    for (const ReplayRequest::Candidate& candidate : request.routers) {
      routers_.push_back(running(candidate));
      if (routers_.back().router->reads_expected() && !candidate.estimator) {
        throw UsageError("router '{}' reads an estimator, and none is named; add --estimator NAME",
                         candidate.name);
      }
    }
  }

  void hear(const LoggedStep& step) {
    if (!step.has_view()) return off_policy_.hear(step, {});
    ++result_.steps;
    check(step);
    if (step.sample != sample_) begin(step);
    if (step.undecided && step.prefix >= 0) judge(step);
    if (step.undecided)
      decide(step);
    else
      off_policy_.hear(step, {});
    learn(step);
  }

  Replay result() {
    if (result_.judged == 0) {
      throw DataError(
          "'{}' has no step whose drafts were judged; decode with decode.shadow = commit or "
          "observe, or a router that verifies",
          frame_.files()[0].path);
    }
    for (const std::map<std::pair<int, int>, Said>& of_arms : logged_)
      for (const auto& [arm, said] : of_arms)
        if (said.numbers > 0 && !said.first_nan.empty()) throw DataError(said.first_nan);
    result_.prompts = std::count(seen_.begin(), seen_.end(), 1);
    result_.luck = luck_.mean(), result_.luck_spread = luck_.spread();
    result_.prefix = prefix_.mean(), result_.length = length_.mean();
    for (const Judge& judge : judges_) result_.estimators.push_back(judge.result());
    for (const Ledger& ledger : ledgers_) result_.routers.push_back(ledger.result());
    result_.values = off_policy_.values();
    return std::move(result_);
  }

 private:
  struct Running {
    std::unique_ptr<Router> router;
    std::unique_ptr<Estimator> estimator;
  };
  // What a logged estimator said in an arm of a file: nothing at all where it was not attached.
  struct Said {
    std::int64_t numbers = 0;
    std::string first_nan = {};
  };

  void check(const LoggedStep& step) {
    if (!step.preview_known && !routers_.empty())
      throw DataError(
          "'{}' is older than version 1.7 of the trace and does not say what the unmasker would "
          "have committed (step_preview); what a router saw is not known, so none can be replayed",
          frame_.files()[static_cast<std::size_t>(at(step).file)].path);
    if (step.view.vocabulary < 2 && !request_.estimators.empty())
      throw UsageError(
          "the trace does not say how many tokens the model knows, which estimators divide by; "
          "--vocabulary must");
  }

  // Parts learn only within a sequence.
  void begin(const LoggedStep& step) {
    sample_ = step.sample;
    canvas_ = std::make_unique<Canvas>(step.view.length,
                                       std::span<const std::pair<std::int32_t, Token>>{});
    for (std::size_t r = 0; r < routers_.size(); ++r) routers_[r] = running(request_.routers[r]);
    for (std::size_t e = 0; e < estimators_.size(); ++e)
      estimators_[e] = request_.estimators[e].second.make();
  }

  static Running running(const ReplayRequest::Candidate& candidate) {
    return {candidate.router.make(), candidate.estimator ? candidate.estimator->make() : nullptr};
  }

  // Shows the estimators what was judged: a chain, as far as its first rejection.
  void learn(const LoggedStep& step) {
    Proposal proposal;
    Verdict verdict;
    proposal.exact = std::min(step.exact, step.span());
    for (int i = 0; i < step.span(); ++i) {
      proposal.nodes.push_back({i == 0 ? kRoot : i - 1, step.view.span.first + i, 0, {}});
      if (step.verified && step.prefix >= 0)
        verdict.judged.push_back({.accept = step.accept[static_cast<std::size_t>(i)],
                                  .accepted = i < step.prefix,
                                  .reached = i <= step.prefix});
    }
    verdict.commits.resize(static_cast<std::size_t>(std::max(0, step.committed)));
    verdict.proposal = &proposal;
    Route route;
    route.verify = step.verified;
    for (const auto& estimator : estimators_) estimator->observe(*canvas_, route, verdict);
    for (const Running& one : routers_)
      if (one.estimator) one.estimator->observe(*canvas_, route, verdict);
  }

  void judge(const LoggedStep& step) {
    const std::int32_t prompt = at(step).prompt;
    ++result_.judged;
    seen_[static_cast<std::size_t>(prompt)] = 1;
    prefix_.add(step.prefix);
    length_.add(step.span());
    if (step.known()) {
      ++result_.known;
      luck_.add(step.prefix - expected_accepted(step.accept));
    }
    for (std::size_t e = 0; e < stored_.size(); ++e) {
      Said& said = logged_[e][{at(step).file, at(step).arm}];
      if (std::isfinite(step.stored[e])) {
        ++said.numbers;
        judges_[e].hear(prompt, step, step.stored[e], nullptr);
      } else if (said.first_nan.empty()) {
        said.first_nan = not_comparable(stored_[e], step.stored[e], step);
      }
    }
    for (std::size_t e = 0; e < estimators_.size(); ++e) {
      const double said =
          checked(request_.estimators[e].first, estimators_[e]->expected(step.view), step);
      const auto* const tokens = dynamic_cast<const TokenEstimator*>(estimators_[e].get());
      const Eigen::ArrayXd alpha = tokens ? tokens->alpha(step.view) : Eigen::ArrayXd();
      const bool whole = tokens && alpha.size() >= step.span();
      judges_[stored_.size() + e].hear(prompt, step, said, whole ? &alpha : nullptr);
    }
  }

  void decide(const LoggedStep& step) {
    const bool fixed_rules[] = {step.routed, true, false};
    for (std::size_t rule = 0; rule < std::size(fixed_rules); ++rule)
      ledgers_[rule].hear(step, fixed_rules[rule]);
    // How probably each rule and router verifies.
    std::vector<double> verifies = {1, 0};
    for (std::size_t r = 0; r < routers_.size(); ++r) {
      const auto& [router, estimator] = routers_[r];
      StepView view = step.view;
      if (estimator && (std::isnan(view.expected) ||
                        !decoded_with(*request_.routers[r].estimator, frame_, at(step).arm)))
        view.expected = estimator->expected(step.view);
      if (router->reads_expected())
        checked("of router " + request_.routers[r].name, view.expected, step);
      Route route = router->decide(view);
      ledgers_[std::size(fixed_rules) + r].hear(step, route.verify);
      verifies.push_back(route.verify ? 1 - route.flip : route.flip);
      // The router learns from what was done.
      route.verify = step.verified;
      Verdict verdict;
      verdict.commits.resize(static_cast<std::size_t>(std::max(0, step.committed)));
      router->observe(*canvas_, route, verdict);
    }
    off_policy_.hear(step, verifies);
  }

  // The rules and routers whose cost is asked for.
  static std::vector<std::string> names_of(const ReplayRequest& request) {
    std::vector<std::string> names(kFixedRules.begin(), kFixedRules.end());
    for (const ReplayRequest::Candidate& candidate : request.routers)
      names.push_back(candidate.name);
    return names;
  }

  const Frame::Sample& at(const LoggedStep& step) const {
    return frame_.samples()[static_cast<std::size_t>(step.sample)];
  }

  std::string not_comparable(const std::string& name, double said, const LoggedStep& step) const {
    const Frame::Sample& sample = at(step);
    return "'" + frame_.files()[static_cast<std::size_t>(sample.file)].path + "': estimator '" +
           name + "' expects an accepted prefix of " + std::to_string(said) + " in step " +
           std::to_string(step.number) + " of prompt '" +
           frame_.prompts()[static_cast<std::size_t>(sample.prompt)] +
           "', which cannot be compared; it must be one that these drafts have numbers for";
  }

  double checked(const std::string& name, double said, const LoggedStep& step) const {
    if (!std::isfinite(said)) throw DataError(not_comparable(name, said, step));
    return said;
  }

  const Frame& frame_;
  const ReplayRequest& request_;
  const std::vector<std::string> stored_;
  std::vector<char> seen_;
  OffPolicy off_policy_;
  // The logged estimators come first.
  std::vector<Judge> judges_;
  std::vector<std::map<std::pair<int, int>, Said>> logged_;
  std::vector<std::unique_ptr<Estimator>> estimators_;
  // What was logged and the fixed rules come first.
  std::vector<Ledger> ledgers_;
  std::vector<Running> routers_;
  std::int64_t sample_ = -1;
  // Routers are shown a canvas, and read nothing of it.
  std::unique_ptr<Canvas> canvas_;
  Moments luck_, prefix_, length_;
  Replay result_;
};

}  // namespace

Replay replay(const Frame& frame, const ReplayRequest& request) {
  check_arms(frame);
  Replaying replaying(frame, request);
  each_step(frame, request.vocabulary, [&](const LoggedStep& step) { replaying.hear(step); });
  return replaying.result();
}

std::string replay_tables(const Replay& replay, bool reliability, TableForm form) {
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
        realised.in(form) +
        "\nApart from luck, by the acceptance probabilities; Brier: sum over k of (S^_k - 1[K >= "
        "k])^2\n" +
        expected.in(form);
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
      if (!bins.rows.empty()) text += "\n" + bins.in(form);
    }
  }
  TextTable decisions{{"router", "steps", "verified", "as logged"}, {}};
  for (const Decisions& d : replay.routers)
    decisions.rows.push_back(
        {d.name, std::to_string(d.steps), fixed(d.verified, 3), fixed(d.agreement, 3)});
  text +=
      "\nDecisions in the logged states, as shares of the steps. A router that had decided would "
      "have met other states, so these are not the shares of a run of its own.\n" +
      decisions.in(form) + off_policy_table(replay.values, form);
  return text;
}

}  // namespace draftlab
