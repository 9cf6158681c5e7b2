// What a memory that is computed anew now and then knows of its next forward, for drafters that ask
// for more than their step needs.
#pragma once

namespace draftlab {

// A Sequence may be one, too.
class Refreshed {
 public:
  virtual ~Refreshed() = default;
  // Whether the next question is the last one that this memory answers, and the question behind it
  // can hold no draft: then nothing will ever be drafted from what is asked beyond the next choice.
  virtual bool spent() const = 0;
};

}  // namespace draftlab
