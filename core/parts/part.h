// What all parts of the loop have in common. Data flows one way through a step:
//   window -> proposal -> route -> verdict -> canvas.
// The contract of all parts, to which the header of each kind adds its own:
//
// Owner and life. A factory makes one object of each part for one sequence. The loop owns it, and
//   destroys it when the sequence is decoded. What a method is given by reference lives as long as
//   the call (of a coroutine: until it has yielded), but for the canvas and the step's models,
//   which outlive the part.
// Order. `begin` is called first, once. Then follow, step by step, the methods that decide, and one
//   `observe`. A method that decides may be called for hypothetical states, or not at all.
// Learning. The methods that decide are const: a part changes only in `begin` and `observe`. A part
//   that overrides `observe` must override `state` too (it does not register otherwise), because
//   `certify` merges equal states.
// Threads. All calls of one sequence come one after another, from one thread. Parts of different
//   sequences may run in different threads, so nothing that changes may be shared between them
//   without a lock.
// Exceptions. ConfigError and DataError tell the user what is wrong with a config or a file, and
//   end the command with that sentence. Anything else is a fault of the part and ends the command
//   with its name. A method that throws need not leave the part usable.
// Randomness comes from the step's `chance` alone, and evaluations are counted by models alone.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/model/blocks.h"
#include "core/model/canvas.h"
#include "core/parts/decode_options.h"
#include "core/parts/route.h"
#include "core/parts/verdict.h"
#include "core/prob/types.h"

namespace draftlab {

class Part {
 public:
  virtual ~Part() = default;
  // The forms of the questions that this part asks the target. Whatever its options allow must be
  // in the list: a model that cannot answer one is refused before anything runs, and no other is
  // answered. It may be called before `begin`.
  virtual std::vector<Form> asks() const { return {}; }
  // The options of [decode] that change what this part does, with the options it has. One that is
  // left out is called dead where no other part of the arm reads it, and cells that differ in it
  // alone are called equal. It may be called before `begin`.
  virtual std::vector<DecodeKey> reads() const { return {}; }
  // Called once, before every other method but `asks` and `reads`, with how the canvas is cut and
  // with all options of [decode]; a part that needs them later keeps copies. Throws ConfigError
  // where the part cannot work with them.
  virtual void begin(const Blocks&, const DecodeOptions&) {}
  // What the part has learnt, as text: parts of equal options and equal texts decide alike from
  // here on. It is empty for a part that learns nothing.
  virtual std::string state() const { return {}; }
  // Called once a step, after its verdict was written onto the canvas. The verdict still names its
  // proposal and holds its carry; both are gone when the call returns.
  virtual void observe(const Canvas&, const Route&, const Verdict&) {}
};

// Says whether a part reads an option of [decode].
inline bool reads(const Part& part, DecodeKey key) {
  const std::vector<DecodeKey> read = part.reads();
  return std::find(read.begin(), read.end(), key) != read.end();
}

}  // namespace draftlab
