// One decoded text with its tokens in the colours of a terminal.
#pragma once

#include <functional>
#include <string>

#include "core/trace/rows.h"

namespace draftlab {

// Writes the tokens of a sample in the order of their positions: drafts that were accepted are
// green, tokens that replaced a rejected draft are red, what the prompt gave is an ellipsis, and
// all others have no colour. Lines are broken at `width` columns, and a line below says what the
// colours mean. Returns "" where no token has a text.
std::string coloured_story(const SampleRow& sample, const std::function<std::string(Token)>& piece,
                           std::size_t width);

}  // namespace draftlab
