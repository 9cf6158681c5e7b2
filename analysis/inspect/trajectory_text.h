// One decode as a text that a reader can follow, and that a change of behaviour shows up in: the
// golden decodes of tests/golden.
#pragma once

#include <functional>
#include <string>

#include "core/parts/task.h"
#include "core/trace/rows.h"

namespace draftlab {

// Every step with its window, its drafts, what was decided about them, what was committed, and the
// canvas that it left. `spell` says how a token is written. Times are left out, and numbers that
// are computed in floating point have two digits behind the point.
std::string trajectory_text(const SampleRow& sample, const Prompt& prompt,
                            const std::function<std::string(Token)>& spell);

// The same without its floating-point numbers, which differ in their last digits from machine to
// machine.
std::string without_numbers(const std::string& trajectory);

// The first line in which two trajectories differ by more than rounding explains, as "line N: A,
// but B"; "" when there is none.
std::string difference(const std::string& stored, const std::string& decoded);

}  // namespace draftlab
