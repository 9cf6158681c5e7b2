// Decides which rows of a causal transformer a question needs. It keeps one sequence's cache in
// step with its canvas, and with the drafted path that was computed last: what is committed of that
// path, or asked about again, is not computed twice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/model.h"
#include "plugins/models/nn/transformer/transformer_rows_torch.h"

namespace draftlab {

struct CausalRules {
  bool cached = true;
  // The number of all layers, and of those that answer shallow questions; 0 means that there are no
  // shallow questions.
  std::int64_t layers = 0, exit = 0;
  // The number of positions that are answered at a node: the next one and those after it.
  std::int32_t heads = 1;
  // How many numbers are kept of each token of the line, its feature, for heads that draft from it;
  // 0: none.
  std::size_t feature = 0;
  // So many first tokens have no row.
  std::int32_t skipped = 0;
};

// The place of the answer to an asked position: a row, and which of its heads.
struct HeadRow {
  int node = kRoot;
  std::int32_t position = 0;
  std::size_t row = 0;
  std::int32_t head = 0;
};

// Slot i of the memory holds the token at position `start` + i of the line. The line is the
// committed prefix, and after it the first path of the last question's drafts. Other paths stand in
// slots above, and are forgotten with their question.
class CausalSequence : public Sequence {
 public:
  // Throws ConfigError when the canvas does not begin with a prompt.
  CausalSequence(const Canvas& canvas, const CausalRules& rules, const TransformerConfig& config);

  // Adds the rows of the source, where there is an encoder that has not seen them yet.
  virtual void add_source_rows(std::vector<MemoryRow>& rows);
  // Adds the rows of a question that are not cached, and says where its answers will stand. Throws
  // ConfigError when the question asks what the model cannot answer: further ahead than it has
  // heads, bidirectionally, or shallowly without exit_layers.
  void add_rows(const Question& question, std::vector<MemoryRow>& rows,
                std::vector<HeadRow>& answers);

  // Adds the rows that leave the features of all committed tokens but the last, where these are not
  // there yet; a feature head or Hydra's heads read them. Returns the number of committed tokens.
  std::int64_t add_feature_rows(std::vector<MemoryRow>& rows);
  // Returns the feature of a slot of the line: its state after the last norm, or what is tapped.
  const float* feature(std::int64_t slot) const { return line_[slot].feature.data(); }
  // Returns a row of a token at a position, whose key and value go to a slot that there is from
  // then on; it sees no slot of the line yet.
  MemoryRow row(std::int64_t slot, std::int32_t position, Token token);
  // Forgets the line from slot `from` on.
  void forget(std::int64_t from) { line_.resize(std::min<std::int64_t>(from, cached())); }

  // Returns the width of a state.
  std::size_t state_size() const { return state_size_; }
  // Returns the position of slot 0.
  std::int32_t start() const { return start_; }
  // Returns the number of slots of the line.
  std::int32_t cached() const { return static_cast<std::int32_t>(line_.size()); }

 private:
  struct Slot {
    Token token = kNoToken;
    // The number of layers that have the token's key and value.
    std::int64_t depth = 0;
    // The state after the layer of the exit, where it was left there.
    std::vector<float> state = {};
    // The feature, where features are kept.
    std::vector<float> feature = {};
  };
  // The state at a node once its token, and given tokens that follow it, are placed.
  struct Tip {
    // How many slots of the line it sees.
    std::int64_t limit = 0;
    // The other slots that it sees.
    std::vector<std::int32_t> extras = {};
    // The first masked position after it.
    std::int32_t next = 0;
    // The row where it is computed.
    std::size_t row = kNoRow;
  };
  static constexpr std::size_t kNoRow = static_cast<std::size_t>(-1);
  // A question over the memory. The tokens of the line are what is committed, then always the first
  // child; `seen` and `on_line` say of each node whether an ask sees it, and whether it is on the
  // line. Rows go through `depth` layers.
  struct Plan {
    const Question& question;
    std::int64_t depth;
    std::vector<Token> line;
    std::vector<char> seen, on_line;
    Tip root;
    std::vector<Tip> tips;
    Tip& at(int node) { return node == kRoot ? root : tips[node]; }
    // Throws a Fault when a node's position is not the next one of its parent.
    void check_place(const Node& node);
  };
  void check(const Question& question) const;
  Plan plan_for(const Question& question) const;
  MemoryRow row_at(std::int64_t slot, std::int32_t position, Token token, const Tip& tip);
  void append(std::vector<Token>& tokens, std::int32_t& next) const;
  // Makes the line hold the tokens that are wanted, and what followed them where nothing else takes
  // its place. Adds a row for each of them that has not been through `depth` layers, or is asked.
  // Returns where these rows are.
  std::vector<std::size_t> add_line_rows(const std::vector<Token>& wanted,
                                         const std::vector<char>& asked, std::int64_t depth,
                                         std::vector<MemoryRow>& rows);
  void add_line(Plan& plan, std::vector<MemoryRow>& rows);
  void add_branches(Plan& plan, std::vector<MemoryRow>& rows);
  void ask(Plan& plan, std::vector<MemoryRow>& rows, std::vector<HeadRow>& answers) const;

  CausalRules rules_;
  std::size_t state_size_;
  std::int32_t start_ = 0;
  std::int32_t source_ = 0;  // The number of tokens of the source.
  bool encoded_ = false;
  RowMemory memory_;
  std::optional<RowMemory> encoder_memory_, source_memory_;
  std::vector<Slot> line_;
};

}  // namespace draftlab
