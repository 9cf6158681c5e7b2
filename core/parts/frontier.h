// The seam of frontiers: a frontier names the positions that a step may fill, and their order.
#pragma once

#include <cstdint>
#include <vector>

#include "core/parts/part.h"
#include "core/parts/window.h"
#include "core/prob/chance.h"

namespace draftlab {

class Frontier : public Part {
 public:
  // Throws ConfigError when this order cannot decode such a prompt. It is called once, after
  // begin(), with the canvas of the prompt.
  virtual void check(const Canvas&) const {}
  // Called once, after check(). A random order is drawn now, at sites of Purpose::arrange, and is
  // part of the state.
  virtual void arrange(const Canvas&, Chance&, std::uint64_t /*sequence*/) {}
  // Whether nothing is left to do. It must become true once every position is committed and
  // settled.
  virtual bool done(const Canvas& canvas) const = 0;
  // Returns the positions that a step may fill.
  // Before: done(canvas) is false. The canvas may be a hypothetical state.
  // After: positions are masked, each named once, in the order of commitment; `span` is at most
  //   their number. There are none only where tentative ones are left to edit.
  virtual Window next(const Canvas& canvas) const = 0;
  // Whether it says when tentative tokens are final (`settled`), and opens a position again that is
  // masked again. Under other frontiers nothing may be taken back.
  virtual bool settles() const { return false; }
  // Returns the tentative positions that nothing will edit any more, or take back. It is
  // called once a step, after observe().
  virtual std::vector<std::int32_t> settled(const Canvas&) const { return {}; }
};

}  // namespace draftlab
