// Which rows of a causal transformer a question needs. Keeps one sequence's cache in step with its
// canvas, and with the drafted path that was computed last: what is committed of it, or asked about
// again, is not computed twice.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/parts/model.h"
#include "plugins/models/transformer/transformer_rows_torch.h"

namespace draftlab {

struct CausalRules {
  bool cached = true;
  std::int64_t layers = 0,
               exit = 0;   // all of them, and those that answer shallow questions; 0: no such
  std::int32_t heads = 1;  // positions that are answered at a node: the next, and those after it
};

// Where the answer to an asked position stands: a row, and which of its heads.
struct HeadRow {
  int node = kRoot;
  std::int32_t position = 0;
  std::size_t row = 0;
  std::int32_t head = 0;
};

// Slot i of the memory holds the token at position `start` + i of the line: the committed prefix,
// and after it the first path of the last question's drafts. Other paths stand in slots above, and
// are forgotten with their question.
class CausalSequence final : public Sequence {
 public:
  // ConfigError when the canvas does not begin with a prompt.
  CausalSequence(const Canvas& canvas, const CausalRules& rules, const TransformerConfig& config);

  // Adds the rows of the source, where there is an encoder that has not seen them yet.
  void add_source_rows(std::vector<MemoryRow>& rows);
  // Adds those rows of a question that are not cached, and says where its answers will stand.
  // ConfigError when it asks what the model cannot answer: further ahead than it has heads,
  // bidirectionally, or shallowly without exit_layers.
  void add_rows(const Question& question, std::vector<MemoryRow>& rows,
                std::vector<HeadRow>& answers);

  std::int32_t cached() const {
    return static_cast<std::int32_t>(line_.size());
  }  // slots of the line

 private:
  struct Slot {
    Token token = kNoToken;
    std::int64_t depth = 0;         // layers that have its key and value
    std::vector<float> state = {};  // after the layer of the exit, where it was left there
  };
  // What stands at a node once its token, and given ones that follow it, are placed.
  struct Tip {
    std::int64_t limit = 0;                 // slots of the line that it sees
    std::vector<std::int32_t> extras = {};  // and others
    std::int32_t next = 0;                  // the first masked position after it
    std::size_t row = kNoRow;               // where it is computed
  };
  static constexpr std::size_t kNoRow = static_cast<std::size_t>(-1);
  MemoryRow row_at(std::int64_t slot, std::int32_t position, Token token, const Tip& tip);
  void append(std::vector<Token>& tokens, std::int32_t& next) const;

  CausalRules rules_;
  std::size_t state_size_;
  std::int32_t start_ = 0;   // position of slot 0
  std::int32_t source_ = 0;  // tokens of the source
  bool encoded_ = false;
  RowMemory memory_;
  std::optional<RowMemory> encoder_memory_, source_memory_;
  std::vector<Slot> line_;
};

}  // namespace draftlab
