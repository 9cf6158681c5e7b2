// The seam to models: they answer questions, keep a sequence's cache, and alone count function
// evaluations.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/parts/blocks.h"
#include "core/parts/canvas.h"
#include "core/parts/question.h"

namespace draftlab {

// Function evaluations of one kind. One answered question is one evaluation, whatever it cost.
struct Count {
  std::int64_t calls = 0;
  std::int64_t rows = 0;       // batch rows: one a path (chain) or a node (branches)
  std::int64_t positions = 0;  // token positions computed: content and query rows
  std::int64_t ns = 0;         // wall time inside the model; a batched forward is divided evenly
};

struct Counts {
  std::array<Count, kKinds> of;
  Count& operator[](Kind kind) { return of[static_cast<int>(kind)]; }
  const Count& operator[](Kind kind) const { return of[static_cast<int>(kind)]; }
  std::int64_t nfe()
      const;  // prefill + draft + verify + commit: what the papers count; neither aux nor judge
  std::int64_t ns() const;  // of the same
};

// A model's own memory of one sequence (key-value cache and the like). Holds a reference to the
// canvas, from which it knows what became final: cached rows that the canvas contradicts are
// truncated at the next question.
class Sequence {
 public:
  explicit Sequence(const Canvas& canvas) : canvas(canvas) {}
  virtual ~Sequence() = default;
  // What answers depend on besides the canvas and the question, as text: of a cache that
  // approximates. Certification merges equal states.
  virtual std::string state() const { return {}; }
  const Canvas& canvas;
  const Counts& counts() const { return counts_; }
  // The deepest node that the next question may ask at: how many drafted tokens a path may put on
  // the committed state and still be answered as if they had been committed one by one. A cache
  // that is refreshed now and then ends it where that would happen; 0: only the committed state
  // itself may be asked. Asking deeper is a Fault.
  virtual int horizon() const { return std::numeric_limits<int>::max(); }

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
};

// What a model is, known once it is loaded.
struct ModelFacts {
  int vocabulary = 0;        // of vector tokens: classes, one of which position 0 holds
  int longest = 0;           // longest canvas; 0: no bound
  Token mask = kNoToken;     // never drawn
  std::vector<Token> stops;  // end-of-text tokens
  std::string family;        // e.g. "xlnet"
  std::string checkpoint;    // folder; "" for models that are made, not loaded
  std::string digest;        // of the weights; "" likewise
  std::int64_t parameters = 0;
  int dimension = 0;      // of a vector token; 0: tokens are ids
  int reverse_steps = 0;  // K: steps in which one is drawn
  View view =
      View::causal;  // of the questions that parts ask about vector tokens: chains, or branches
};

// Where a model runs.
struct Machine {
  std::string device = "cpu";  // cpu, cuda
  std::string dtype = "f32";   // f32, bf16
  int threads = 0;             // 0: as many as the affinity mask allows
  bool fixed_shape =
      false;  // refuse a model whose answers may depend on what else its forward computes
};

class Model {
 public:
  virtual ~Model() = default;
  // Reads the checkpoint; DataError when it cannot. Called once, before anything else.
  virtual void load(const Machine& machine) = 0;
  virtual ModelFacts facts() const = 0;
  // `canvas` outlives the sequence; `blocks` is how decoding cuts it: a bidirectional answer sees
  // the whole of its position's block, hence in a block of one position both views are one.
  // ConfigError when it is longer than the model can hold.
  virtual std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks& blocks = {}) = 0;
  // The forward that the sequence's cache needs before anything else is asked, where it costs one
  // of its own: the prompt's (Kind::prefill), or that of a block which became final (Kind::commit).
  // The loop asks until none is due. A model that gets the next position's distribution along with
  // it asks that position; the answer becomes the step's carry.
  virtual std::optional<Question> due(const Sequence&) const { return std::nullopt; }
  // Whether the result for a row is the same, to the last bit, whatever else its forward computes:
  // decisions in a batch are then exactly those of a sequence alone.
  virtual bool rows_are_independent() const { return false; }
  // Whether one forward can answer questions of different kinds, views and depths: batches need not
  // wait for their like.
  virtual bool mixes() const { return false; }
  // Answers questions in one forward, alike unless the model mixes them, and counts them.
  void answer(std::span<Pending> batch);
  // Calls `watcher` after every forward: token positions computed in it, and its wall time in
  // nanoseconds.
  void watch(std::function<void(std::int64_t positions, std::int64_t ns)> watcher) {
    watcher_ = std::move(watcher);
  }
  // Adds an evaluation that needs no forward (Kind::aux).
  static void count_aux(Sequence& sequence);
  // Takes back what was counted since: of a verification that only observes.
  static void uncount(Sequence& sequence, const Counts& before) { sequence.counts_ = before; }

 protected:
  // Fills every answer, and rows and positions. Implementations neither count nor time.
  virtual void evaluate(std::span<Pending> batch) = 0;

 private:
  std::function<void(std::int64_t, std::int64_t)> watcher_;
};

}  // namespace draftlab
