// The seam to models. Models answer questions, keep the cache of each sequence, and alone count
// function evaluations.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/words.h"
#include "core/model/blocks.h"
#include "core/model/canvas.h"
#include "core/model/machine.h"
#include "core/model/question.h"

namespace draftlab {

// How a model's memory of a sequence goes back over drafts that were rejected.
//   - cut: rows of rejected tokens are dropped (attention).
//   - snapshot: the state after each drafted token is kept, and the one that is wanted goes on.
//   - replay: the state of the last commit is kept, and accepted tokens run again.
//   - none: it does not. The loop restarts the sequence (core/loop/reading.h), and the whole text
//     runs again.
enum class Rollback : std::uint8_t { cut, snapshot, replay, none };
constexpr std::array<std::string_view, 4> words(Rollback) {
  return {"cut", "snapshot", "replay", "none"};
}

// The function evaluations of one kind. One answered question is one evaluation, whatever it cost.
struct Count {
  std::int64_t calls = 0;
  // The batch rows computed: one a path (chain) or one a node (branches).
  std::int64_t rows = 0;
  // The token positions computed: content and query rows.
  std::int64_t positions = 0;
  // The wall time inside the model in nanoseconds; a batched forward is divided evenly.
  std::int64_t ns = 0;
};

struct Counts {
  std::array<Count, kKinds> of;
  // The layers of the model that its forwards went through, in sum; 0 where it does not say.
  std::int64_t layers = 0;
  // The bytes of states that were kept so that drafts can be taken back, in sum.
  std::int64_t kept_bytes = 0;
  // The token positions that were computed again because a state could not be taken back without.
  std::int64_t rerun = 0;
  Count& operator[](Kind kind) { return of[static_cast<int>(kind)]; }
  const Count& operator[](Kind kind) const { return of[static_cast<int>(kind)]; }
  // The function evaluations that the papers count: prefill, draft, verify and commit, but neither
  // aux nor judge.
  std::int64_t nfe() const;
  // The wall time of the same evaluations.
  std::int64_t ns() const;
};

// A model's own memory of one sequence (key-value cache and the like). It holds a reference to the
// canvas, from which it knows what became final: cached rows that the canvas contradicts are
// truncated at the next question.
class Sequence {
 public:
  explicit Sequence(const Canvas& canvas) : canvas(canvas) {}
  virtual ~Sequence() = default;
  // What answers depend on besides the canvas and the question, as text; a cache that approximates
  // has such a state. Certification merges equal states.
  virtual std::string state() const { return {}; }
  const Canvas& canvas;
  const Counts& counts() const { return counts_; }
  // The depth of the deepest node at which the next question may ask: how many drafted tokens a
  // path may put on the committed state and still be answered as if they had been committed one by
  // one. A cache that is refreshed now and then ends it where a refresh would happen. At 0 only the
  // committed state itself may be asked. Asking deeper is a Fault.
  virtual int horizon() const { return std::numeric_limits<int>::max(); }
  // Forgets everything that was read, as if the sequence had just been opened. Only a model that
  // declares Rollback::none is asked to, and it must override this.
  virtual void restart();

 private:
  friend class Model;
  Counts counts_;
};

// One question of a batched forward. The model fills `answer` and says what it computed.
struct Pending {
  Sequence* sequence = nullptr;
  const Question* question = nullptr;
  Answer* answer = nullptr;
  std::int64_t rows = 1, positions = 0;
  // The layers that the question went through, fewer for a shallow one; 0 where the model has none
  // or does not say.
  std::int64_t layers = 0;
  // What the question adds to Counts::kept_bytes and Counts::rerun.
  std::int64_t kept_bytes = 0, rerun = 0;
};

// What a model is; the facts are known once it is loaded.
struct ModelFacts {
  // The number of token ids. For vector tokens it is the number of classes, of which one stands at
  // position 0.
  int vocabulary = 0;
  // The length of the longest canvas; 0 means that there is no bound.
  int longest = 0;
  // The mask token, which is never drawn.
  Token mask = kNoToken;
  // Whether the model has no mask token and reads a random canvas: at masked positions it reads
  // what they show (Canvas::shown). The loop draws that uniformly from the vocabulary, anew for
  // each step but where an unmasker said what is shown (Verdict::shown).
  bool random_canvas = false;
  // The end-of-text tokens.
  std::vector<Token> stops;
  // The model's family, such as "xlnet".
  std::string family;
  // The folder of the checkpoint; "" for models that are made, not loaded.
  std::string checkpoint;
  // The digest of the weights; "" for models that are made.
  std::string digest;
  std::int64_t parameters = 0;
  // The dimension of a vector token; 0 means that tokens are ids.
  int dimension = 0;
  // The number K of reverse steps in which a vector token is drawn.
  int reverse_steps = 0;
  // The view of the questions that parts ask about vector tokens: causal for chains, bidirectional
  // for branches.
  View view = View::causal;
  // The unit roundoff of the arithmetic that answers come from (unit_roundoff()). 0 says that a
  // question which is asked again has the same answer to the last bit, however it is batched.
  double rounding = 0;
  // How the model's memory of a sequence goes back.
  Rollback rollback = Rollback::cut;
};

// One model serves all sequences and arms that share its weights. It is used by one thread at a
// time, and may compute with threads of its own inside a call. It outlives its sequences. An
// exception ends the command with the model's name, but for ConfigError and DataError, whose
// sentence is for the user; the model and its sequences are not used after one.
class Model {
 public:
  virtual ~Model() = default;
  // Reads the checkpoint, and throws DataError when it cannot, and ConfigError when `machine` asks
  // for what it cannot do. It is called once, before anything else.
  virtual void load(const Machine& machine) = 0;
  // Computes the next forwards with all of so many threads, where the model has threads of its own,
  // also where fewer would be faster.
  virtual void compute_with(int /*threads*/) {}
  // What the model is. It may be asked at any time after load(), and is the same each time.
  virtual ModelFacts facts() const = 0;
  // Opens a sequence. `canvas` must outlive it; `blocks` is how decoding cuts the canvas. A
  // bidirectional answer sees the whole of its position's block, hence in a block of one position
  // both views are the same; a model may answer several such positions that are asked at once as
  // one longer block. The caller owns what is returned. Throws ConfigError when the canvas
  // is longer than the model can hold. Any number of sequences may be open.
  virtual std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks& blocks = {}) = 0;
  // The forward that the sequence's cache needs before anything else is asked, where it costs a
  // forward of its own: that of the prompt (Kind::prefill), or that of a block which became final
  // (Kind::commit). The loop asks until none is due. A model that gets the next position's
  // distribution from the same forward asks that position; the answer becomes the step's carry.
  virtual std::optional<Question> due(const Sequence&) const { return std::nullopt; }
  // Whether the answer to a question is the same, to the last bit, whatever other questions its
  // forward answers. Decisions in a batch are then exactly those of a sequence alone.
  virtual bool rows_are_independent() const { return false; }
  // Whether one forward can answer questions of different kinds, views and depths, so that a batch
  // need not wait for questions that are alike.
  virtual bool mixes() const { return false; }
  // Answers questions in one forward, and counts them and their time. The questions are alike
  // unless the model mixes them, and are of forms that the model is registered for. Questions and
  // answers belong to the caller.
  void answer(std::span<Pending> batch);
  // Calls `watcher` after every forward with the token positions computed in it and its wall time
  // in nanoseconds.
  void watch(std::function<void(std::int64_t positions, std::int64_t ns)> watcher) {
    watcher_ = std::move(watcher);
  }
  // Adds an evaluation that needs no forward (Kind::aux).
  static void count_aux(Sequence& sequence);
  // Takes back what was counted since `before`, for a verification that only observes.
  static void uncount(Sequence& sequence, const Counts& before) { sequence.counts_ = before; }

 protected:
  // Fills every answer: a law over the vocabulary at temperature 1, without the mask token, for
  // each asked position, in the order of the asks. Fills in the rows and positions computed.
  // Answers depend on the sequence's canvas, its memory and the question alone. Implementations
  // neither count evaluations nor take times. Throws a Fault where a node lies deeper than
  // Sequence::horizon.
  virtual void evaluate(std::span<Pending> batch) = 0;

 private:
  std::function<void(std::int64_t, std::int64_t)> watcher_;
};

}  // namespace draftlab
