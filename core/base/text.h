// Reads, checks and repairs UTF-8. Every reader of text uses these functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace draftlab {

// One character and the number of bytes it takes; 0 bytes means that what stands there is not
// well-formed.
struct Point {
  std::uint32_t point = 0;
  std::size_t bytes = 0;
};
Point read_point(std::string_view text, std::size_t at);
void append_point(std::string& text, std::uint32_t point);

// Says whether the character has Unicode's property White_Space.
bool white_space(std::uint32_t point);

// Returns the index of the first byte that is not well-formed UTF-8 (overlong forms, surrogates and
// values above U+10FFFF are not), or npos when all of the text is.
std::size_t invalid_utf8(std::string_view text);

// Replaces what is not well-formed by U+FFFD, one for each longest beginning of a character,
// because a token may end within a character.
std::string mended_utf8(std::string_view text);

// Puts words into one text: "a, b, c".
std::string joined(const std::vector<std::string>& words, std::string_view between = ", ");

// Returns the first sentence of a comment: up to a full stop or question mark, or to the end of a
// line after which another thought begins (in a capital letter, or further to the right).
std::string first_sentence(std::string_view comment);

// Replaces control characters (line ends, escapes of terminals) by spaces, for texts that are shown
// in one line and come from a file that anybody may have made.
std::string one_line(std::string text);

}  // namespace draftlab
