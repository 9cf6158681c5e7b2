// A tokenizer whose tokens are numbers in order, such as the grey levels of a picture: token i is
// the level i, so that the distance of two tokens is that of what they stand for. Its text is the
// levels in decimal, with spaces between them.
#pragma once

#include <memory>
#include <string>

#include "core/parts/task.h"

namespace draftlab {

// Reads a levels.json, {"levels": N}: the levels are 0 to N - 1, and <s> and <sep> follow them.
// Throws DataError when N is not in [2, 65536].
std::unique_ptr<Tokenizer> open_levels(const std::string& path);

}  // namespace draftlab
