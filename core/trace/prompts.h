// Prompts as rows of a trace, and back. Arms that share task, data and tokenizer share their
// prompts, which are recorded once, under the first of them.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/parts/task.h"
#include "core/trace/rows.h"

namespace draftlab {

// What a row of the table `given` is of its prompt.
enum class GivenKind : std::int32_t { given, end, choice };

// Prompts are found by the row of the arm and the prompt's index in the task.
using PromptKey = std::pair<std::int32_t, std::int32_t>;
using GivenRows = std::map<PromptKey, std::vector<GivenRow>>;

// Returns the first arm whose prompts are those of runs[run]: the one that has the same task and
// options, the same data and the same checkpoint, whose tokenizer spells them.
std::int32_t first_with_prompts(const std::vector<RunRow>& runs, std::int32_t run);

// Returns the rows of a prompt, in the order of the table.
std::vector<GivenRow> given_rows(const PromptKey& key, const Prompt& prompt);

// Adds what the rows say to a prompt: its given tokens, its ends and its choices.
void add_given(const std::vector<GivenRow>& rows, Prompt& prompt);

}  // namespace draftlab
