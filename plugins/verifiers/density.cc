// Judges drafts that are vectors by the ratio of their densities (continuous speculative decoding,
// CSpD). The target's head either follows the draft's path or has one of its own from the same
// noise; `k` is the number of last reverse steps that are judged. The modes are:
//   - k-split: noise is shared down to x_k, and the path from there is judged on the draft's own
//     states: log r = log p(y_{k-1} | x_k^p) / q(y_{k-1} | x_k^q)
//       + sum_{t<k} log p(y_{t-1} | y_t) / q(y_{t-1} | y_t).
//     It is exact for every k: given the noise, it is the ratio test between two laws of one path.
//   - closed-form: the same for a head with one reverse step, whatever its mixture. It is exact.
//   - paper: k = 1, times Sigma = prod_{t>=2} sigma_q / sigma_p (Eq. 4). It divides densities at
//   two
//     different points, and is exact only where Sigma is 1.
//   - authors-code: the published program, which takes the reciprocal of Sigma and, in the test
//     alone, deviations inflated by 42.
//   - reflection: a maximal coupling of each reverse step in turn. It is exact.
#include <cmath>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "plugins/verifiers/vector_trial.h"

namespace draftlab {
namespace {

class Density final : public Verifier {
 public:
  using Options = DensityOptions;
  explicit Density(const Options& options) : options_(options) {
    if (options.context == DensityContext::parallel && options.bonus)
      throw ConfigError(
          "bonus = true asks the position behind all drafts, which context = parallel does not "
          "see; one of them must change");
  }
  std::vector<Form> asks() const override { return {Form::committed, Form::reverse}; }

  Asking<Verdict> judge(const Step& step, const Proposal& proposal,
                        const Acceptance& acceptance) const override {
    Verdict verdict{.commits = {}, .edits = {}, .why = Stop::complete, .carry = {}, .judged = {}};
    const int drafted = std::min(static_cast<int>(proposal.nodes.size()), step.window.span);
    verdict.judged.assign(proposal.nodes.size(), {.target = kNotMeasured,
                                                  .drawn = kNotMeasured,
                                                  .accept = kNotMeasured,
                                                  .accepted = false,
                                                  .reached = false});
    for (int i = 0; i < std::min(proposal.exact, drafted); ++i) {
      verdict.judged[i] = {.target = kNotMeasured,
                           .drawn = kNotMeasured,
                           .accept = 1,
                           .accepted = true,
                           .reached = true};
      verdict.commits.push_back(commit_of(proposal.nodes[i], Source::accepted));
      verdict.commits.back().path = path_of(proposal.trajectories[i]);
    }
    if (drafted == step.window.span) verdict.why = step.window.boundary;
    if (proposal.exact >= drafted) co_return verdict;

    const bool parallel = options_.context == DensityContext::parallel;
    const bool bonus = options_.bonus && drafted < step.window.span;
    Question question{.kind = Kind::verify, .view = step.models[0].view, .nodes = {}, .asks = {}};
    if (!parallel)
      question.nodes.assign(proposal.nodes.begin(),
                            proposal.nodes.begin() + (bonus ? drafted : drafted - 1));
    std::vector<VectorTrial> trials;
    std::vector<std::pair<int, std::int32_t>> asked;
    for (int i = proposal.exact; i < drafted + bonus; ++i) {
      const std::int32_t position =
          i < drafted ? proposal.nodes[i].position : step.window.positions[i];
      asked.emplace_back(parallel ? kRoot : i - 1, position);
      if (parallel && !question.asks.empty())
        question.asks.front().positions.push_back(position);
      else
        question.asks.push_back({asked.back().first, {position}});
    }
    const Answer answer = co_await step.ask(std::move(question));
    for (int i = proposal.exact; i < drafted; ++i) {
      const auto& [node, position] = asked[i - proposal.exact];
      trials.emplace_back(step, options_, acceptance, position, proposal.trajectories[i],
                          answer.condition(node, position));
    }
    Asking<bool> measuring = measure(step, options_, trials);
    co_await measuring;

    bool rejected = false;
    for (int i = proposal.exact; i < drafted; ++i) {
      VectorTrial& trial = trials[i - proposal.exact];
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
    if (bonus && !rejected) {
      const std::int32_t position = asked.back().second;
      const Normals noise = normals_at(step, {position}, Purpose::bonus, step.clock);
      const ModelFacts& facts = step.models[0];
      std::vector<Trajectory> fresh = {
          begin_token(step, answer.condition(asked.back().first, position), 0,
                      noise(0, facts.reverse_steps + 1, facts.dimension),
                      proposal.trajectories.front().final_noise)};
      Asking<bool> drawing = draw_down(step, fresh, 0, noise);
      co_await drawing;
      verdict.commits.push_back(
          {position, 0, Source::bonus, fresh.front().states.back(), path_of(fresh.front())});
    }
    co_return verdict;
  }

 private:
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(verifier, density) {
  registries.verifiers.add<draftlab::Density>(
      "density",
      "vector tokens by the ratio of their densities, as published and in exact forms (CSpD); mode "
      "k-split, reflection and closed-form are lossless");
}
