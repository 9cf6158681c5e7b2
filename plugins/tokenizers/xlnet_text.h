// How XLNet cleans text before its pieces are looked up.
#pragma once

#include <string>
#include <string_view>

namespace draftlab {

// Returns the text as XLNet reads it. White space is stripped and
// collapsed to one space, `` and '' become ", accents are dropped (from letters of Latin-1 and
// Latin Extended-A, and all combining marks; other scripts keep theirs), and case is kept. `text`
// must be valid UTF-8.
std::string clean_text(std::string_view text);

}  // namespace draftlab
