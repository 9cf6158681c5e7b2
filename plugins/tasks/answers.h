// Prompts for questions whose answer has an unknown length. The question is given; then come
// positions for the answer, which ends at the first of the tokenizer's end tokens. What follows
// that token is neither text nor scored.
#pragma once

#include <cstdint>
#include <string>

#include "core/parts/task.h"

namespace draftlab {

struct WorkedQuestion {
  std::string name, question, answer;
};

// The canvas of a question: it begins with <s> where that is asked for and the tokenizer has it,
// and has so many masked positions behind the question.
struct AnswerCanvas {
  std::int64_t answer_tokens = 0;
  bool begin = true;
};

// Makes a prompt of the question's tokens. The reference is the worked answer and end tokens, cut
// where it does not fit; `offset` is the first position of the answer.
Prompt question_prompt(const WorkedQuestion& asked, const AnswerCanvas& canvas,
                       const Tokenizer& tokenizer);

// Returns the answer up to its first end token. Positions that are still masked are left out.
std::string answer_text(const Tokenizer& tokenizer, const Prompt& prompt, const Canvas& canvas);

}  // namespace draftlab
