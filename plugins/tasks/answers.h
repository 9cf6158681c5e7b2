// Questions with an answer of unknown length: the question is given, then come positions for the
// answer, which ends at the first of the tokenizer's end tokens. What follows it is neither text
// nor scored.
#pragma once

#include <cstdint>
#include <string>

#include "core/parts/task.h"

namespace draftlab {

// Tokens of the question, <s> in front where `begin` and there is one, then `answer_tokens` masked
// positions. The reference is the worked answer and end tokens, cut where it does not fit; `offset`
// is the first position of the answer.
Prompt question_prompt(const std::string& name, const std::string& question,
                       const std::string& worked, const Tokenizer& tokenizer,
                       std::int64_t answer_tokens, bool begin);

// The answer up to its first end token; positions that are still masked are left out.
std::string answer_text(const Tokenizer& tokenizer, const Prompt& prompt, const Canvas& canvas);

}  // namespace draftlab
