// Prompts for questions whose answer has an unknown length. The question is given; then come
// positions for the answer, which ends at the first of the tokenizer's end tokens. What follows
// that token is neither text nor scored.
#pragma once

#include <cstdint>
#include <string>

#include "core/parts/task.h"

namespace draftlab {

// Makes a prompt of the question's tokens, with <s> in front where `begin` asks for it and the
// tokenizer has it, and then `answer_tokens` masked positions. The reference is the worked answer
// and end tokens, cut where it does not fit; `offset` is the first position of the answer.
Prompt question_prompt(const std::string& name, const std::string& question,
                       const std::string& worked, const Tokenizer& tokenizer,
                       std::int64_t answer_tokens, bool begin);

// Returns the answer up to its first end token. Positions that are still masked are left out.
std::string answer_text(const Tokenizer& tokenizer, const Prompt& prompt, const Canvas& canvas);

}  // namespace draftlab
