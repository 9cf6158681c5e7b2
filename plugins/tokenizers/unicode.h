// What needs Unicode's tables: normal forms, the characters of words, case.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace draftlab {

// Whether `name` is NFC, NFD, NFKC or NFKD.
bool is_normal_form(const std::string& name);
// `text`, which must be valid UTF-8, in that form.
std::string normalized(std::string_view text, const std::string& form);

// \w of a regular expression: letters, marks, decimal digits, connectors, joiners (UTS 18, annex
// C).
bool word_character(std::uint32_t point);

// Letters of one case, and a text in lower case (character by character).
bool upper_case(std::uint32_t point);
bool lower_case(std::uint32_t point);
std::string lowered(std::string_view text);

}  // namespace draftlab
