// Draws one token from the target itself, for one forward. This is sequential decoding, and what a
// drafter without a draft falls back to. (In that case the token is the bonus of a step with no
// drafts, and its random number may not be that of a draft which was dropped.)
#pragma once

#include "core/parts/drafter.h"

namespace draftlab {

inline Asking<Proposal> own_draw(const Step& step, Purpose purpose = Purpose::draft) {
  const std::int32_t position = step.window.positions.front();
  Question question{
      .kind = Kind::draft, .view = View::causal, .nodes = {}, .asks = {{kRoot, {position}}}};
  const Answer answer = co_await step.ask(std::move(question));
  const Distribution& raw = answer.at(kRoot, position);
  const Distribution drawn = step.drawn(raw);
  Proposal proposal;
  proposal.nodes = {{kRoot, position, step.draw(drawn, position, 0, purpose)}};
  proposal.drawn_from = {drawn};
  proposal.raw = {raw};
  proposal.exact = 1;
  co_return proposal;
}

}  // namespace draftlab
