// A model that reads a text from left to right and remembers it as a state of fixed size (RWKV,
// Mamba). A plugin says what a state is and what a row does to it. Which rows a question needs, and
// how the memory goes back over rejected drafts, is decided here, in one place for all of them.
//
// The memory of a sequence is a small tree of states. Its root is the state of the committed
// tokens, and below it stand the drafts of the last question. What is committed of them becomes the
// root.
//   - snapshot: every draft leaves its state behind, so that no token is ever computed twice.
//   - replay: only the root and the last draft of each path have a state. Where a draft is
//     rejected, those before it run again from the root, along with the next question or in a
//     forward of their own (Kind::commit). Each path of a tree of drafts runs from the root.
//   - none: there is one state. Where a draft is rejected, the loop restarts the sequence.
// All of them answer alike to the last bit, because what a row leaves depends on its token and on
// the state before it alone.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "core/model/model.h"

namespace draftlab {

// One token that is read. `before` and `after` may be one state.
struct RecurrentRow {
  Token token = kNoToken;
  const float* before = nullptr;
  float* after = nullptr;
  // Where the logits of the next token go, [vocabulary]; nullptr: nobody wants them.
  float* logits = nullptr;
};

// Where accepted tokens run again: along with the next question, or in a forward of their own.
enum class Rerun : std::uint8_t { ride, own };
constexpr std::array<std::string_view, 2> words(Rerun) { return {"ride", "own"}; }

struct RollbackRules {
  Rollback rollback = Rollback::snapshot;
  Rerun rerun = Rerun::ride;
};

class RecurrentModel : public Model {
 public:
  // Throws ConfigError where the rules say `cut`, because a state has no rows that can be cut.
  explicit RecurrentModel(const RollbackRules& rules);
  ModelFacts facts() const final;
  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks& blocks) final;
  std::optional<Question> due(const Sequence& sequence) const final;
  bool rows_are_independent() const final { return true; }
  bool mixes() const final { return true; }

 protected:
  // What the model is; facts() adds how its memory goes back.
  virtual ModelFacts described() const = 0;
  // The size of a state, in numbers. Before the first token they are all zero.
  virtual std::size_t state_size() const = 0;
  // Reads the rows in their order; a row's `before` may be what an earlier one leaves. The states
  // and logits that a row leaves depend on its token and the state before it alone, to the last
  // bit.
  virtual void run(std::span<const RecurrentRow> rows) = 0;
  // The layers that a row goes through; 0 where the model has none.
  virtual std::int64_t layers() const { return 0; }

 private:
  void evaluate(std::span<Pending> batch) final;
  RollbackRules rules_;
};

}  // namespace draftlab
