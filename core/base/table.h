// Tables as plain text: aligned for terminals and logs, or in Markdown.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace draftlab {

enum class TableForm { text, markdown };
constexpr std::array<std::string_view, 2> words(TableForm) { return {"text", "markdown"}; }

// The first column is aligned left and names the row, the others are aligned right. A table wider
// than `width` goes on below, with the first column repeated.
struct TextTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::string print(std::size_t width = 120) const;
  // A paragraph of its own, behind an empty line.
  std::string markdown() const;
  std::string in(TableForm form) const {
    return form == TableForm::markdown ? markdown() : print();
  }
};

// Breaks lines at blanks, so that none is longer than `width`; what follows an indented line is
// indented below it.
std::string wrapped(const std::string& text, std::size_t width);

// Writes `value` with `digits` after the point, and "-" for NaN.
std::string fixed(double value, int digits);

}  // namespace draftlab
