// UTF-8 as every reader of text needs it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace draftlab {

// Index of the first byte that is not well-formed UTF-8 (overlong forms, surrogates and values above U+10FFFF are not);
// npos when all of it is.
std::size_t invalid_utf8(std::string_view text);

// What XLNet does to text before its pieces are looked up: white space stripped and collapsed to one space, `` and '' become
// ", accents dropped (letters of Latin-1 and Latin Extended-A and all combining marks; other scripts stay), case kept.
// `text` must be valid UTF-8.
std::string clean_text(std::string_view text);

}  // namespace draftlab
