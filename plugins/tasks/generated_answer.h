// What tasks share whose answer is written behind a question and ends with the end of text.
#pragma once

#include <vector>

#include "core/task.h"

namespace draftlab {

// The generated tokens up to the first `end`, which is left out, as is what follows it; positions still masked are left out.
std::vector<Token> generated_answer(const Canvas& canvas, Token end);

}  // namespace draftlab
