// What a drafter hands over: drafted tokens, and the distribution that each was drawn from.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "core/model/question.h"
#include "core/prob/distribution.h"
#include "core/prob/types.h"
#include "core/prob/vector_token.h"

namespace draftlab {

// A token that is written to its position, and where it came from.
struct Commit {
  std::int32_t position = 0;
  Token token = kNoToken;
  Source source = Source::accepted;
  // The value of a vector token, whose id is 0.
  Eigen::VectorXd value = {};
  // The states y_K, ..., y_1 of a vector token under the target, where they are known.
  std::vector<Eigen::VectorXd> path = {};
};

// A drafted token in its place.
inline Commit commit_of(const Node& node, Source source) {
  return {node.position, node.token, source, node.value};
}

// Drafted tokens as a tree over the committed state; most drafters propose one path.
struct Proposal {
  std::vector<Node> nodes;
  // The distribution that each token was drawn from, after temperature, top-k and top-p. The list
  // is empty when every draft is a point mass.
  std::vector<Distribution> drawn_from;
  // What confidences, margins and entropies are read from: the drafter's own answers at temperature
  // 1, where it has any. With decode.reads = drawn the loop puts `drawn_from` here
  // (Step::readings).
  std::vector<Distribution> raw;
  // How many leading drafts are the target's own draws, which need no test (Lemma 1 of ASSD).
  int exact = 0;
  // How many positions, from the next one on, a verifier asks at every node for the next step's
  // carry.
  int lookahead = 0;
  // Changes of tentative positions, made before anything is judged (token editing of LLaDA2.1).
  std::vector<Commit> edits = {};
  // What the drafter asked at the committed state for this step; it is empty where it asked
  // nothing.
  Answer root_answer = {};
  // How each vector token was drawn, aligned with the nodes.
  std::vector<Trajectory> trajectories = {};
};

}  // namespace draftlab
