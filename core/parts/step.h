// One step of the loop as the parts see it: what they may read, ask and draw.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/model/blocks.h"
#include "core/model/canvas.h"
#include "core/model/model.h"
#include "core/parts/asking.h"
#include "core/parts/decode_options.h"
#include "core/parts/proposal.h"
#include "core/parts/window.h"
#include "core/prob/chance.h"

namespace draftlab {

class DraftLength;
class Frontier;
class Unmasker;

// References outlive the step. A step is made by designated fields.
class Step {
 public:
  const Canvas& canvas;
  const Window& window;
  const Blocks& blocks;
  const DecodeOptions& decode;
  const std::optional<Carry>& carry;
  Chance& chance;
  Mailbox& mailbox;
  // Addresses the random sites of this decode.
  std::uint64_t sequence = 0;
  // The index of the step, and how many steps were made in the window's block before this one.
  std::uint32_t clock = 0;
  std::int64_t made = 0;
  int vocabulary = 0;
  // The target's memory of this sequence.
  Sequence& target;
  // The frontier and the unmasker of the arm, for parts that ask about hypothetical states. Both
  // are null in a step that a test made by hand.
  const Frontier* frontier = nullptr;
  const Unmasker* unmasker = nullptr;
  // When drafting ends, for drafters that draft token after token; the loop cuts the proposals of
  // others. It is null in a step that a test made by hand.
  const DraftLength* length = nullptr;
  // Facts about the target and, where there is one, about the draft model.
  std::span<const ModelFacts> models = {};

  Site site(std::int32_t position, Purpose purpose, std::uint32_t attempt = 0) const {
    return {sequence, position, purpose, clock, attempt};
  }
  // How many tokens a path of drafts may have: decode.draft_length, where the window is as long.
  std::size_t most_drafts() const {
    return std::min(window.positions.size(), static_cast<std::size_t>(decode.draft_length));
  }
  // Suspends until the model (0: the target) has answered.
  Wait ask(Question question, int model = 0) const { return {mailbox, std::move(question), model}; }
  Distribution drawn(const Distribution& raw) const { return shaped(raw, decode.sampling); }
  Mixture drawn(Mixture raw, int model = 0) const;  // Throws DataError for a law that is none.
  // Draws the token of a position that has `ahead` drafts before it. Where decode.noise shares
  // numbers, the address is the state's (choice), so that all who draw at the position in that
  // state read one number; else it is the step's, and `purpose` says whose draw it is.
  Token draw(const Distribution& law, std::int32_t position, int ahead, Purpose purpose) const;
  // Says what is read of a proposal's drafts (decode.reads, decode.end_confidence).
  void readings(Proposal& proposal) const;
  // Counts an evaluation that needs no forward.
  void aux() const { Model::count_aux(target); }

  // The next four functions apply the rule of stepwise decoding to a hypothetical state on top of
  // the committed one.
  //
  // choice() is the address of a position's draw in `state`: it is given by how much is committed
  // there. Whoever arrives at the state, in whatever step, draws the same number.
  Site choice(const Canvas& state, std::int32_t position) const;
  // What stepwise decoding commits in `state`: the unmasker's choice among drafts of the positions
  // that the frontier opens there. `answer` holds their distributions at `node`, and `draft` names
  // the tokens.
  std::vector<Commit> stepwise(const Canvas& state, const Answer& answer, int node,
                               const std::function<Token(std::int32_t)>& draft) const;
  // The same, with tokens drawn for this state.
  std::vector<Commit> stepwise(const Canvas& state, const Answer& answer, int node) const;
  // Returns masked positions of `state` in the order in which the frontier opens them, in whole
  // windows: at least `count`, where so many are left.
  std::vector<std::int32_t> ahead(const Canvas& state, std::int64_t count) const;
};

}  // namespace draftlab
