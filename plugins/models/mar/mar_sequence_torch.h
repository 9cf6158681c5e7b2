// Decides which states and rows of MAR a question needs. A bidirectional sequence keeps nothing; a
// causal one keeps its cache in step with the canvas, and with the drafted path that was computed
// last.
#pragma once

#include <array>
#include <vector>

#include "core/model/model.h"
#include "plugins/models/mar/mar_rows_torch.h"

namespace draftlab {

// A node at which a question asks, and the share of tokens that are known once the asked ones are;
// in MAR that is never quite all.
struct MarAsk {
  int node = kRoot;
  std::vector<std::int32_t> positions;
  double known = 0;
};
// Joins the asks of a question node by node, in the order of their first mention. Throws
// ConfigError where the view is not the model's.
std::vector<MarAsk> mar_asks(const Canvas& canvas, const Question& question, View view);

// Returns the state of the canvas with the drafts of a node's path on it. Throws a Fault when an
// asked position is visible there.
MarState mar_state(const Canvas& canvas, const Question& question, const MarAsk& ask);

class MarCausalSequence final : public Sequence {
 public:
  // With guidance there are two memories: one of the class, and one of no class.
  MarCausalSequence(const Canvas& canvas, const MarConfig& mar, const TransformerConfig& config,
                    bool guided);
  // Adds the rows that the asks need: those of the class and then, in the same order, those of no
  // class. Returns the places in `asks` whose conditions the rows give, in the order of the rows.
  // Throws a Fault when a draft or an asked position is not the next one.
  std::vector<std::size_t> add_rows(const Question& question, const std::vector<MarAsk>& asks,
                                    std::vector<MarCausalRow>& rows);

 private:
  // The state at a node: the slots that are seen there, and the place that comes next.
  struct Tip {
    std::int64_t limit = 0;
    std::vector<std::int32_t> extras = {};
    std::int32_t next = 0;
  };
  // A question over the memory. The tokens of the line are what is committed, then always the first
  // child; `seen` and `on_line` say of each node whether an ask sees it, and whether it is on the
  // line.
  struct Plan {
    const std::vector<Node>& nodes;
    const std::vector<MarAsk>& asks;
    std::vector<const Eigen::VectorXd*> line;
    std::vector<char> seen, on_line;
    Tip root;
    std::vector<Tip> tips;
    const Tip& at(int node) const { return node == kRoot ? root : tips[node]; }
  };
  Plan plan_for(const Question& question, const std::vector<MarAsk>& asks) const;
  void add_line(const Plan& plan, std::vector<MarCausalRow>& rows);
  void add_branches(Plan& plan, std::vector<MarCausalRow>& rows);

  std::int64_t buffers_;
  int none_;
  std::vector<RowMemory> memories_;
  // Whether the buffers are cached.
  bool filled_ = false;
  // The cached tokens, in raster order.
  std::vector<Eigen::VectorXd> line_;
};

}  // namespace draftlab
