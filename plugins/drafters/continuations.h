// What followed a run of tokens at several places, as a tree of drafts: the most frequent
// continuations first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/parts/proposal.h"

namespace draftlab {

struct Continuations {
  struct Draft {
    int parent = kRoot;
    int depth = 0;
    Token token = kNoToken;
    // How many of the places go on up to here, as a share of them all.
    double share = 0;
  };
  // Parents precede children.
  std::vector<Draft> drafts;
  // The sum of the shares: how many drafts would be accepted if shares were probabilities.
  double score = 0;
};

struct ContinuationLimits {
  std::int64_t drafts = 1, depth = 1;
  // Continuations of a smaller share are not followed.
  double least_share = 0;
  // Whether only the most frequent token follows each other one, the lowest id among equals.
  bool path = false;
};

// Grows the tree at `places`, the indices in `tokens` of what comes next; a place at the end, or at
// kNoToken, is followed by nothing, yet counts. Of equal shares what was found first goes first.
Continuations continuations(std::span<const Token> tokens, std::vector<std::int32_t> places,
                            const ContinuationLimits& limits);

// Returns the places of `tokens` behind which its last `run` tokens come, the end among them.
std::vector<std::int32_t> places_of_ending(std::span<const Token> tokens, std::size_t run);

// The drafts as nodes of a proposal, each a point mass.
Proposal proposal_of(const Continuations& grown, const std::vector<std::int32_t>& window);

}  // namespace draftlab
