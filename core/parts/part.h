// What all parts of the loop have in common. Data flows one way through a step:
//   window -> proposal -> route -> verdict -> canvas.
// The methods that decide are const: a part changes only in `observe`, after a step was committed.
// A part that overrides `observe` must override `state` too (this is checked when the part is
// registered), because `certify` merges equal states.
#pragma once

#include <string>
#include <vector>

#include "core/model/blocks.h"
#include "core/model/canvas.h"
#include "core/parts/decode_options.h"
#include "core/parts/route.h"
#include "core/parts/verdict.h"
#include "core/prob/types.h"

namespace draftlab {

// The base of all parts: a part says which questions it asks (a model that cannot answer one is
// refused before anything runs), and it tells the state that `certify` compares.
class Part {
 public:
  virtual ~Part() = default;
  virtual std::vector<Form> asks() const { return {}; }
  // Called once, before anything else, with how the canvas is cut and the options that every part
  // reads.
  virtual void begin(const Blocks&, const DecodeOptions&) {}
  virtual std::string state() const { return {}; }
  virtual void observe(const Canvas&, const Route&, const Verdict&) {}
};

}  // namespace draftlab
