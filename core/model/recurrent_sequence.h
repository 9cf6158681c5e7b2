// The memory of one sequence of a recurrent model: which states are kept, and which rows a question
// needs (recurrent.h says what the ways of going back are).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/model/recurrent.h"

namespace draftlab {

class RecurrentSequence final : public Sequence {
 public:
  struct Sizes {
    std::size_t state, vocabulary;
  };
  // Throws ConfigError when the canvas does not begin with a prompt token.
  RecurrentSequence(const Canvas& canvas, const RollbackRules& rules, const Sizes& sizes);
  void restart() override;

  // Whether accepted tokens have to run again in a forward of their own.
  bool owes_rerun() const;
  // Adds the rows that the question needs; their results stand here. Says in `pending` what they
  // cost.
  void add_rows(Pending& pending, std::vector<RecurrentRow>& rows);
  // Returns the logits of the token that follows a node of the last question; the node was asked.
  const std::shared_ptr<std::vector<float>>& logits(int node) const;
  // Returns the first masked position behind that node.
  std::int32_t next(int node) const;

 private:
  static constexpr int kNone = -1;
  // The tokens that were read since the parent: a draft, and given ones that follow it.
  struct Entry {
    int parent = kNone;
    std::vector<Token> tokens = {};
    // The number of tokens up to here.
    std::int32_t depth = 0;
    // Empty where the state is not kept.
    std::vector<float> state = {};
    // Null where the tokens were not read yet.
    std::shared_ptr<std::vector<float>> logits = {};
  };
  // Returns the committed tokens from position `from` up to the first masked one.
  std::vector<Token> committed(std::int32_t from) const;
  // Whether what the root has read is what is committed.
  bool root_is_committed() const;
  // Returns the last entry whose tokens are all committed.
  int last_committed() const;
  // Returns that entry, or the next above it that has a state.
  int with_state(int entry) const;
  // Returns the child of `parent` in the last question's tree that has these tokens; kNone
  // where none has.
  int child(int parent, const std::vector<Token>& tokens) const;

  // Makes the root the state of all committed tokens. Returns the entry that this was; kNone where
  // the last of these tokens are read only now.
  int catch_up(Pending& pending, std::vector<RecurrentRow>& rows);
  // Replaces the drafts below the root by those that the question needs; what is known of them is
  // kept.
  void replace_drafts(const Question& question, int old_root);
  // Adds the rows of a path from the root to `leaf`, of which the last state is kept.
  void add_path(int leaf, Pending& pending, std::vector<RecurrentRow>& rows);
  // Adds the rows of one entry: the first reads `before`, and all leave their state in `after`.
  void add_entry(Entry& entry, const float* before, float* after, std::vector<RecurrentRow>& rows);

  const RollbackRules rules_;
  const Sizes sizes_;
  // Parents precede children; entry 0 is the root, and its tokens are the committed text.
  std::vector<Entry> tree_;
  // The entry of each node of the last question; kNone for one that nobody sees.
  std::vector<int> entry_of_;
  // The tokens that were read before the sequence was restarted.
  std::vector<Token> read_before_;
};

}  // namespace draftlab
