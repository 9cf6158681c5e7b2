// Aligned plain text for terminals and logs.
#pragma once

#include <string>
#include <vector>

namespace draftlab {

// The first column is aligned left and names the row, the others are aligned right. A table wider
// than `width` goes on below, with the first column repeated.
struct TextTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::string print(std::size_t width = 120) const;
};

// Breaks lines at blanks, so that none is longer than `width`; what follows an indented line is
// indented below it.
std::string wrapped(const std::string& text, std::size_t width);

// Writes `value` with `digits` after the point, and "-" for NaN.
std::string fixed(double value, int digits);

}  // namespace draftlab
