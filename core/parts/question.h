// What parts ask a model, and what it answers: conditional distributions p(x_i | context), several
// at a time. Of a model whose tokens are vectors, an asked position is answered by a condition, and
// what is drawn under it by the laws of reverse steps.
#pragma once

#include <string>
#include <vector>

#include "core/prob/distribution.h"
#include "core/prob/types.h"
#include "core/prob/vector_token.h"

namespace draftlab {

inline constexpr int kRoot = -1;  // the committed state itself

// A drafted token placed on top of its parent's state; parents precede children.
struct Node {
  int parent = kRoot;
  std::int32_t position = 0;
  Token token = kNoToken;
  Eigen::VectorXd value = {};  // of a vector token, whose id is 0
};

// The positions asked at one node (kRoot: at the committed state); each is masked there, or
// tentative, or drafted on the way there: what a bidirectional model would write instead.
struct Ask {
  int node = kRoot;
  std::vector<std::int32_t> positions;
};

struct Question {
  Kind kind = Kind::draft;
  View view = View::causal;
  std::vector<Node> nodes;
  std::vector<Ask> asks;
  bool shallow = false;  // answered by the model's first layers and its head alone (early exit)
  std::vector<Reverse> reverse = {};  // laws asked; nothing else is then

  bool alike(const Question& other) const {
    return kind == other.kind && view == other.view && shallow == other.shallow &&
           reverse.empty() == other.reverse.empty();
  }
  Form form() const;   // reverse and shallow ones first; committed without nodes; else chain in the
                       // causal view, branches in the bidirectional one
  int leaves() const;  // nodes without children: the paths of a chain question
};

// Distributions at temperature 1 with the mask token removed (`raw`), in the order of the
// question's asks; or conditions; or the laws of a reverse question, in its order.
class Answer {
 public:
  void add(int node, std::int32_t position, Distribution distribution);
  // Fault when (node, position) was not asked.
  const Distribution& at(int node, std::int32_t position) const;
  const Distribution* find(int node, std::int32_t position) const;  // nullptr when it was not asked
  void add(int node, std::int32_t position, Eigen::VectorXd condition);
  const Eigen::VectorXd& condition(int node, std::int32_t position) const;  // Fault likewise
  std::vector<Mixture> laws;
  bool empty() const { return rows_.empty() && laws.empty(); }
  std::string key() const;  // equal answers have equal keys

 private:
  struct Row {
    int node;
    std::int32_t position;
    Distribution distribution;
    Eigen::VectorXd condition;
  };
  const Row* row(int node, std::int32_t position) const;
  std::vector<Row> rows_;
};

// An answer that a later step may draft from, and the node at which the verdict stopped.
struct Carry {
  Answer answer;
  int node = kRoot;
  // How many tokens were committed after that node and are unknown to it: a replacement or a bonus.
  int unseen_commits = 0;
};

}  // namespace draftlab
