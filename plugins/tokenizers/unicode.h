// Functions that need Unicode's tables: normal forms, the characters of words, and case.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace draftlab {

// Says whether `name` is NFC, NFD, NFKC or NFKD.
bool is_normal_form(const std::string& name);
// Returns `text`, which must be valid UTF-8, in that form.
std::string normalized(std::string_view text, const std::string& form);

// Says whether \w of a regular expression matches: letters, marks, decimal digits, connectors and
// joiners (UTS 18, annex C).
bool word_character(std::uint32_t point);

// The first two say whether a character is a letter of that case; the third puts a text in lower
// case, character by character.
bool upper_case(std::uint32_t point);
bool lower_case(std::uint32_t point);
std::string lowered(std::string_view text);

}  // namespace draftlab
