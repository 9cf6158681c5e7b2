// The examples that a model of answers is trained on: a prompt, and the answer to it.
#pragma once

#include <vector>

#include "core/parts/task.h"

namespace draftlab {

// A prompt, which is never masked and has no loss, and the answer, which ends in the end token.
struct WorkedExample {
  std::vector<Token> tokens;
  int prompt = 0;
};

// Returns the prompts of a loaded task with their references, each up to its first end token.
// Throws ConfigError when one has no reference, or when its prompt does not stand at the beginning
// of the canvas.
std::vector<WorkedExample> worked_examples(const Task& task, Token end);

}  // namespace draftlab
