// A tree of the most probable paths, grown level by level from laws that somebody else tells. The
// score of a node is the product of the probabilities on the way to it.
#pragma once

#include <cstdint>
#include <vector>

#include "core/parts/step.h"

namespace draftlab {

class PathTree {
 public:
  // Each level goes on from the `width` best nodes of the last one, with their `width` best tokens.
  explicit PathTree(std::int64_t width) : width_(width) {}

  // The nodes that the next level goes on from; before the first level, the root alone.
  const std::vector<int>& front() const { return front_; }
  // Adds a level: the best tokens behind each node of the front, whose laws are given in its order.
  void grow(const std::vector<Distribution>& laws, std::int32_t position);
  // Asks about `position` behind each node of the front; what stands on the way is sent along.
  void ask(std::int32_t position, Question& question) const;
  // The index in `nodes` of the node with the same path; kRoot for the root, kNoNode for none.
  int place_in(const std::vector<Node>& nodes, int node) const;
  // The `count` best nodes of all levels as point masses, parents first, level by level.
  Proposal best(std::int64_t count) const;

 private:
  struct Candidate {
    Node node;
    Distribution raw;
    double score = 0;
  };
  std::vector<int> best_of(std::vector<int> nodes, std::int64_t count) const;

  std::int64_t width_;
  std::vector<Candidate> tree_;
  std::vector<int> front_ = {kRoot};
};

}  // namespace draftlab
