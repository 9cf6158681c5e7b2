#include "plugins/verifiers/density_verifier.h"

#include <algorithm>

#include "core/base/error.h"

namespace draftlab {

struct DensityVerifier::Span {
  // Drafts from `exact` to `drafted` are judged, and with a bonus one position more is asked.
  int exact = 0, drafted = 0;
  bool bonus = false;
  // For each of these: the node behind which it is asked about, and its position.
  std::vector<std::pair<int, std::int32_t>> asked = {};
};

DensityVerifier::DensityVerifier(const DensityOptions& options,
                                 std::unique_ptr<const OtherRatio> other)
    : options_(options), other_(std::move(other)) {
  if (options.context == DensityContext::parallel && options.bonus)
    throw ConfigError(
        "bonus = true asks the position behind all drafts, which context = parallel does not see; "
        "one of them must change");
}

Asking<Verdict> DensityVerifier::judge(const Step& step, const Proposal& proposal,
                                       const Acceptance& acceptance) const {
  const int drafted = std::min(static_cast<int>(proposal.nodes.size()), step.window.span);
  Verdict verdict{
      .commits = {},
      .edits = {},
      .why = drafted == step.window.span ? step.window.boundary : Stop::complete,
      .carry = {},
      .judged = std::vector<Judged>(proposal.nodes.size(),
                                    {kNotMeasured, kNotMeasured, kNotMeasured, false, false})};
  for (int i = 0; i < std::min(proposal.exact, drafted); ++i) {
    verdict.judged[i] = {kNotMeasured, kNotMeasured, 1, true, true};
    verdict.commits.push_back(commit_of(proposal.nodes[i], Source::accepted));
    verdict.commits.back().path = path_of(proposal.trajectories[i]);
  }
  if (proposal.exact >= drafted) co_return verdict;

  Span span{proposal.exact, drafted, options_.bonus && drafted < step.window.span};
  const Answer answer = co_await step.ask(about(step, proposal, span));
  const DensityRule rule{options_, acceptance, other_.get()};
  std::vector<VectorTrial> trials;
  for (int i = proposal.exact; i < drafted; ++i) {
    const auto& [node, position] = span.asked[i - proposal.exact];
    trials.emplace_back(
        step, rule,
        VectorDraft{position, proposal.trajectories[i], answer.condition(node, position)});
  }
  Asking<bool> measuring = measure(step, trials);
  co_await measuring;

  const bool parallel = options_.context == DensityContext::parallel;
  bool rejected = false;
  for (int i = proposal.exact; i < drafted; ++i) {
    const VectorTrial& trial = trials[i - proposal.exact];
    Judged& judged = verdict.judged[i];
    const bool reached = parallel || !rejected;
    if (reached || step.decode.shadow != Shadow::off) judged = trial.judged(reached);
    if (!reached) continue;
    Asking<Vector> deciding = trial.decide(judged);
    Vector vector = co_await deciding;
    verdict.commits.push_back({proposal.nodes[i].position, proposal.nodes[i].token,
                               judged.accepted ? Source::accepted : Source::resampled,
                               std::move(vector.value), std::move(vector.path)});
    rejected = rejected || !judged.accepted;
  }
  if (rejected) verdict.why = Stop::wrong_token;
  if (!span.bonus || rejected) co_return verdict;
  const auto& [node, position] = span.asked.back();
  Asking<Commit> drawing = bonus(step, proposal, answer.condition(node, position));
  verdict.commits.push_back(co_await drawing);
  co_return verdict;
}

// Returns the question of a judging, and notes in the span where each position is asked about.
Question DensityVerifier::about(const Step& step, const Proposal& proposal, Span& span) const {
  const bool parallel = options_.context == DensityContext::parallel;
  Question question{.kind = Kind::verify, .view = step.models[0].view, .nodes = {}, .asks = {}};
  if (!parallel)
    question.nodes.assign(proposal.nodes.begin(),
                          proposal.nodes.begin() + (span.bonus ? span.drafted : span.drafted - 1));
  for (int i = span.exact; i < span.drafted + span.bonus; ++i) {
    const std::int32_t position =
        i < span.drafted ? proposal.nodes[i].position : step.window.positions[i];
    span.asked.emplace_back(parallel ? kRoot : i - 1, position);
    if (parallel && !question.asks.empty())
      question.asks.front().positions.push_back(position);
    else
      question.asks.push_back({span.asked.back().first, {position}});
  }
  return question;
}

// Draws the position behind the last draft from the target.
Asking<Commit> DensityVerifier::bonus(const Step& step, const Proposal& proposal,
                                      const Eigen::VectorXd& condition) const {
  const std::int32_t position =
      step.window.positions[std::min(static_cast<int>(proposal.nodes.size()), step.window.span)];
  const Normals noise = normals_at(step, step.site(position, Purpose::bonus));
  const ModelFacts& facts = step.models[0];
  std::vector<Trajectory> fresh = {
      begin_token(step, condition, 0, noise(0, facts.reverse_steps + 1, facts.dimension))};
  fresh.front().final_noise = proposal.trajectories.front().final_noise;
  Asking<bool> drawing = draw_down(step, fresh, 0, noise);
  co_await drawing;
  co_return Commit{position, 0, Source::bonus, fresh.front().states.back(), path_of(fresh.front())};
}

}  // namespace draftlab
