// The digest SHA-256 of FIPS 180-4, by which files are known by their contents.
#pragma once

#include <string>
#include <string_view>

namespace draftlab {

// Returns 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace draftlab
