// Decodes what requests ask for, side by side: the questions of all sequences that are open share
// the forwards of the model, as in a batch of `run`.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "experiments/endpoint/decode_slot.h"
#include "experiments/endpoint/heard.h"
#include "experiments/endpoint/shaped_arms.h"

namespace draftlab {

class Decoding {
 public:
  // `together` sequences are decoded side by side, and `waiting` answers may wait besides.
  Decoding(ShapedArms& arms, Chat format, std::size_t together, std::size_t waiting)
      : arms_(arms), format_(format), together_(together), waiting_(waiting) {}

  // Returns the channel on which the answers are heard. Any thread may ask. Throws Refusal (503)
  // where too many answers wait, or none is begun any more.
  std::shared_ptr<AnswerChannel> ask(Wanted wanted);

  // Answers until drain() was called and everything asked before is answered. The thread that calls
  // it has used the models alone. Throws Stopped where a stop was requested.
  void run();
  // Takes no request any more. Any thread may call it.
  void drain();

 private:
  // Moves answers that wait to free places; waits for some where all places are free. Returns false
  // where there is nothing left to do.
  bool take_waiting();
  void advance();
  void fail(std::list<DecodeSlot>::iterator slot, const Refusal& why);

  ShapedArms& arms_;
  const Chat format_;
  const std::size_t together_, waiting_;
  std::list<DecodeSlot> slots_;

  std::mutex mutex_;
  std::condition_variable asked_;
  std::deque<AnswerToDecode> queue_;
  std::uint64_t requests_ = 0;
  bool draining_ = false;
};

}  // namespace draftlab
