// UTF-8 as every reader of text needs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace draftlab {

// One character and how many bytes it takes; 0 bytes: what stands there is not well-formed.
struct Point {
  std::uint32_t point = 0;
  std::size_t bytes = 0;
};
Point read_point(std::string_view text, std::size_t at);
void append_point(std::string& text, std::uint32_t point);

// Unicode's White_Space.
bool white_space(std::uint32_t point);

// Index of the first byte that is not well-formed UTF-8 (overlong forms, surrogates and values
// above U+10FFFF are not); npos when all of it is.
std::size_t invalid_utf8(std::string_view text);

// What is not well-formed becomes U+FFFD, one for each longest beginning of a character: a token
// may end within one.
std::string mended_utf8(std::string_view text);

// What XLNet does to text before its pieces are looked up: white space stripped and collapsed to
// one space, `` and '' become
// ", accents dropped (letters of Latin-1 and Latin Extended-A and all combining marks; other
// scripts stay), case kept. `text` must be valid UTF-8.
std::string clean_text(std::string_view text);

}  // namespace draftlab
