// What parts ask a model, and what it answers: conditional distributions p(x_i | context), several
// at a time. A model whose tokens are vectors answers an asked position by a condition, and the
// laws of reverse steps say what is drawn under that condition.
#pragma once

#include <string>
#include <vector>

#include "core/prob/distribution.h"
#include "core/prob/types.h"
#include "core/prob/vector_token.h"

namespace draftlab {

inline constexpr int kRoot = -1;  // The parent of a node that stands on the committed state itself.

// A drafted token placed on top of its parent's state; parents precede children.
struct Node {
  int parent = kRoot;
  std::int32_t position = 0;
  Token token = kNoToken;
  // The value of a vector token, whose id is 0.
  Eigen::VectorXd value = {};
};

// The positions asked at one node (kRoot: at the committed state). Each is masked there, or
// tentative, or drafted on the way there; the answer is then what a bidirectional model would write
// instead.
struct Ask {
  int node = kRoot;
  std::vector<std::int32_t> positions;
};

struct Question {
  Kind kind = Kind::draft;
  View view = View::causal;
  std::vector<Node> nodes;
  std::vector<Ask> asks;
  // Whether a cheap part of the model answers, such as its first layers and its head.
  bool shallow = false;
  // The laws asked for; a question that has any asks for nothing else.
  std::vector<Reverse> reverse = {};

  bool alike(const Question& other) const {
    return kind == other.kind && view == other.view && shallow == other.shallow &&
           reverse.empty() == other.reverse.empty();
  }
  // The form follows from the fields: reverse and shallow questions are recognised first, a
  // question without nodes is committed, and any other is chain in the causal view and branches in
  // the bidirectional one.
  Form form() const;
  // The number of nodes without children, which is the number of paths of a chain question.
  int leaves() const;
};

// An answer holds distributions at temperature 1 with the mask token removed (`raw`), in the order
// of the question's asks; or conditions; or the laws of a reverse question, in its order.
class Answer {
 public:
  void add(int node, std::int32_t position, Distribution distribution);
  // Throws a Fault when (node, position) was not asked.
  const Distribution& at(int node, std::int32_t position) const;
  // Returns nullptr when (node, position) was not asked.
  const Distribution* find(int node, std::int32_t position) const;
  void add(int node, std::int32_t position, Eigen::VectorXd condition);
  // Throws a Fault when (node, position) was not asked.
  const Eigen::VectorXd& condition(int node, std::int32_t position) const;
  std::vector<Mixture> laws;
  bool empty() const { return rows_.empty() && laws.empty(); }
  // Equal answers have equal keys.
  std::string key() const;

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
  // The drafted nodes that the answer is about, for parts that learn from what follows each of
  // them; empty where a verifier does not say.
  std::vector<Node> nodes = {};
};

}  // namespace draftlab
