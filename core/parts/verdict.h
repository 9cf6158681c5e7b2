// The outcome of a step: the tokens that are committed, and why the step stopped there.
#pragma once

#include <optional>
#include <vector>

#include "core/model/question.h"
#include "core/parts/proposal.h"
#include "core/prob/types.h"

namespace draftlab {

// What judging a vector token gives instead of two probabilities.
struct VectorEvidence {
  // The log densities of what is judged, under the target and under the law that it was drawn from.
  double log_target = kNotMeasured;
  double log_drawn = kNotMeasured;
  // How often the target drew until one draw replaced the rejected token.
  int proposals = 0;
  // Whether the last draw was taken because there had been too many.
  bool capped = false;
};

// What became of one drafted node.
struct Judged {
  // The probability of the drafted token under the target, as drawn.
  double target = kNotMeasured;
  // Its probability under the distribution that it was drawn from.
  double drawn = kNotMeasured;
  // The probability with which it is accepted; 1 for exact drafts.
  double accept = kNotMeasured;
  bool accepted = false;
  // The walk does not reach what lies beyond a rejection (in shadow mode) or behind the end of a
  // text.
  bool reached = true;
  VectorEvidence vector = {};
  // The target's distribution at the draft's place, as drawn, given the drafts before it and not
  // their rejected siblings; empty where it was not asked.
  Distribution law = {};
};

// What a step commits, and why it commits no more.
struct Verdict {
  std::vector<Commit> commits;
  // The edits of the proposal.
  std::vector<Commit> edits;
  // Tentative tokens that are removed once the commits are written: their positions are masked
  // again.
  std::vector<Commit> taken_back = {};
  // What masked positions show in the next step; only of an unmasker that `shows`.
  std::vector<Commit> shown = {};
  Stop why = Stop::complete;
  // What the next step may draft from; parts that observe see it, too.
  std::optional<Carry> carry;
  // One entry a node of the proposal; the list is shorter when the walk stopped early and no shadow
  // went on.
  std::vector<Judged> judged;
  // What was proposed, while parts observe the verdict; nullptr before and after.
  const Proposal* proposal = nullptr;
};

}  // namespace draftlab
