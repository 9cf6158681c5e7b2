#include "core/parts/parts.h"

#include "core/base/error.h"
#include "core/metrics/decode_metrics.h"

namespace draftlab {

Mixture Step::drawn(Mixture raw, int model) const {
  return shaped(std::move(raw), decode.sampling.temperature, models[model].dimension,
                model == 0 ? "the target" : "the draft model");
}

Site Step::choice(const Canvas& state, std::int32_t position) const {
  return {sequence, position, Purpose::choice, static_cast<std::uint32_t>(state.committed()), 0};
}

std::vector<Commit> Step::stepwise(const Canvas& state, const Answer& answer, int node,
                                   const std::function<Token(std::int32_t)>& draft) const {
  const Window open = frontier->next(state);
  Proposal proposal;
  for (const std::int32_t position : open.positions) {
    proposal.nodes.push_back(
        {static_cast<int>(proposal.nodes.size()) - 1, position, draft(position)});
    proposal.raw.push_back(answer.at(node, position));
    proposal.drawn_from.push_back(drawn(proposal.raw.back()));
  }
  const Step there{state,    open,  blocks,     decode, carry,    chance,   mailbox,
                   sequence, clock, vocabulary, target, frontier, unmasker, models};
  return unmasker->choose(there, proposal).commits;
}

std::vector<Commit> Step::stepwise(const Canvas& state, const Answer& answer, int node) const {
  return stepwise(state, answer, node, [&](std::int32_t position) {
    return chance.draw(drawn(answer.at(node, position)), choice(state, position));
  });
}

std::vector<std::int32_t> Step::ahead(const Canvas& state, std::int64_t count) const {
  std::vector<std::int32_t> positions;
  Canvas later = state;
  while (static_cast<std::int64_t>(positions.size()) < count && !frontier->done(later)) {
    const std::vector<std::int32_t> open = frontier->next(later).positions;
    if (open.empty()) break;  // what is left can only be edited
    for (const std::int32_t position : open) later.commit(position, 0);
    positions.insert(positions.end(), open.begin(), open.end());
  }
  return positions;
}

double Acceptance::probability(double, double) const {
  throw Fault("an acceptance rule that judges no densities was asked to");
}

double Acceptance::replaces(double, double) const {
  throw Fault("an acceptance rule that judges no densities was asked to");
}

double TokenEstimator::expected(const StepView& step) const {
  const Eigen::ArrayXd accept = alpha(step);
  return expected_accepted({accept.data(), static_cast<std::size_t>(accept.size())});
}

Verdict Unmasker::top_up(const Step& step, const Proposal& proposal, Verdict verdict) const {
  if (!verdict.commits.empty() || !verdict.edits.empty()) return verdict;
  Verdict chosen = choose(step, proposal);
  for (Commit& commit : chosen.commits) commit.source = Source::fallback;
  verdict.commits = std::move(chosen.commits);
  return verdict;
}

}  // namespace draftlab
