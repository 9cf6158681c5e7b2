// What a model has read of one sequence that cannot go back (Rollback::none): the loop compares
// each question with it, and restarts the model's memory where the question contradicts it.
#pragma once

#include <vector>

#include "core/model/canvas.h"
#include "core/model/question.h"

namespace draftlab {

class Reading {
 public:
  explicit Reading(int length) : read_(static_cast<std::size_t>(length), kNoToken) {}
  // Whether the question only adds to what was read before it: every token that was read is
  // committed or drafted again, and nothing is asked at a state before the last one. Afterwards
  // what was read is what this question says. The question has one path.
  bool goes_on(const Canvas& canvas, const Question& question);

 private:
  // For each position: the token that was read there.
  std::vector<Token> read_;
};

// Whether some state of the question has two drafts to follow it.
bool branches(const Question& question);

}  // namespace draftlab
