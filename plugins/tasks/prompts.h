// What tasks of text share: how a prompt is named, and how a decoded canvas is read as text.
#pragma once

#include <string>
#include <vector>

#include "core/parts/task.h"

namespace draftlab {

// Says whether a canvas begins with the tokenizer's <s>: the task asks for it, and there is one.
bool begins(const Tokenizer& tokenizer, bool asked);

// Returns the name with a hash of what is given and of the reference. Prompts that differ have
// different names, so arms that decode different prompts are never paired.
std::string prompt_id(const std::string& name, const Prompt& prompt);

// Scores the share of the generated tokens that equal the reference, and whether all do.
std::vector<Score> token_scores(const Prompt& prompt, const Canvas& canvas);

// Returns the text of a canvas from prompt.offset on. Positions still masked are left out.
std::string decoded_text(const Tokenizer& tokenizer, const Prompt& prompt, const Canvas& canvas);

// Returns 16 hex digits of a stable hash over tokens, combined with the digest `before`.
std::string digest_of(const std::vector<Token>& tokens, const std::string& before);

}  // namespace draftlab
