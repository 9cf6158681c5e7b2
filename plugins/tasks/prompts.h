// What tasks of text share: how a prompt is named, and what a decoded canvas says.
#pragma once

#include <string>
#include <vector>

#include "core/parts/task.h"

namespace draftlab {

// Whether a canvas begins with the tokenizer's <s>: where the task asks for it, and there is one.
bool begins(const Tokenizer& tokenizer, bool asked);

// The name with a hash of what is given and what stood there: prompts that differ have different
// names, so arms that decode different ones are never paired.
std::string prompt_id(const std::string& name, const Prompt& prompt);

// Share of the generated tokens that are what stood there, and whether all are.
std::vector<Score> token_scores(const Prompt& prompt, const Canvas& canvas);

// What a canvas says, from prompt.offset on; positions still masked are left out.
std::string decoded_text(const Tokenizer& tokenizer, const Prompt& prompt, const Canvas& canvas);

// 16 hex digits of a stable hash over tokens, folded into what went before.
std::string digest_of(const std::vector<Token>& tokens, const std::string& before);

}  // namespace draftlab
