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
  MarCausalSequence(const Canvas& canvas, const TransformerConfig& config, std::int64_t buffers,
                    int classes, bool guided);
  // Adds the rows that the asks need: those of the class and then, in the same order, those of no
  // class. What is asked comes in the order of `tips`: the place in `asks` whose condition a row
  // answers. Throws a Fault when a draft or an asked position is not the next one.
  void add_rows(const Question& question, const std::vector<MarAsk>& asks,
                std::vector<MarCausalRow>& rows, std::vector<std::size_t>& tips);

 private:
  std::int64_t buffers_;
  int none_;
  std::vector<RowMemory> memories_;
  // How many buffers are cached: none of them, or all.
  std::int64_t filled_ = 0;
  // The cached tokens, in raster order.
  std::vector<Eigen::VectorXd> line_;
};

}  // namespace draftlab
