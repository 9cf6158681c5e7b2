#include "core/parts/step.h"

#include "core/parts/frontier.h"
#include "core/parts/unmasker.h"

namespace draftlab {
namespace {

// The law in which the token's probability is multiplied by `factor`, before it is normalised.
Distribution less_sure(const Distribution& law, Token token, double factor) {
  Eigen::ArrayXd weights = law.probabilities();
  weights[token] *= factor;
  if (weights.sum() > 0) return Distribution(std::move(weights));
  weights.setOnes();  // All mass was on the token: any other is as good.
  weights[token] = 0;
  return Distribution(std::move(weights));
}

}  // namespace

Mixture Step::drawn(Mixture raw, int model) const {
  return shaped(std::move(raw), decode.sampling.temperature, models[model].dimension,
                model == 0 ? "the target" : "the draft model");
}

void Step::readings(Proposal& proposal) const {
  if (decode.reads == Reads::drawn) proposal.raw = proposal.drawn_from;
  if (decode.end_confidence == 1 || models.empty()) return;
  if (proposal.raw.empty()) proposal.raw = proposal.drawn_from;
  const std::vector<Token>& ends = models.front().stops;
  for (std::size_t i = 0; i < proposal.raw.size(); ++i) {
    const Token token = proposal.nodes[i].token;
    if (proposal.raw[i].empty() || std::count(ends.begin(), ends.end(), token) == 0) continue;
    proposal.raw[i] = less_sure(proposal.raw[i], token, decode.end_confidence);
  }
}

Token Step::draw(const Distribution& law, std::int32_t position, int ahead, Purpose purpose) const {
  if (decode.noise == Noise::own) return chance.draw(law, site(position, purpose));
  Site shared = choice(canvas, position);
  shared.clock += static_cast<std::uint32_t>(ahead);
  return chance.draw_shared(law, shared, decode.noise);
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
  const Step there{.canvas = state,
                   .window = open,
                   .blocks = blocks,
                   .decode = decode,
                   .carry = carry,
                   .chance = chance,
                   .mailbox = mailbox,
                   .sequence = sequence,
                   .clock = clock,
                   .made = made,
                   .vocabulary = vocabulary,
                   .target = target,
                   .frontier = frontier,
                   .unmasker = unmasker,
                   .length = length,
                   .models = models};
  readings(proposal);
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
    if (open.empty()) break;  // Whatever is left can only be edited.
    for (const std::int32_t position : open) later.commit(position, 0);
    positions.insert(positions.end(), open.begin(), open.end());
  }
  return positions;
}

}  // namespace draftlab
