#include "core/base/table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace draftlab {
namespace {

constexpr std::size_t kGap = 2;

// Counts the columns of a terminal, that is the bytes that begin a character.
std::size_t columns(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string TextTable::print(std::size_t width) const {
  std::vector<std::size_t> widths;
  for (std::size_t column = 0; column < header.size(); ++column) {
    widths.push_back(columns(header[column]));
    for (const auto& row : rows) widths[column] = std::max(widths[column], columns(row[column]));
  }
  std::string text;
  for (std::size_t first = 1, last; first < header.size(); first = last) {
    std::size_t used = widths[0];
    for (last = first;
         last < header.size() && (last == first || used + kGap + widths[last] <= width); ++last)
      used += kGap + widths[last];
    const auto line = [&](const std::vector<std::string>& cells) {
      text += cells[0] + std::string(widths[0] - columns(cells[0]), ' ');
      for (std::size_t column = first; column < last; ++column) {
        text += std::string(kGap + widths[column] - columns(cells[column]), ' ') + cells[column];
      }
      text.erase(text.find_last_not_of(' ') + 1);
      text += '\n';
    };
    if (first > 1) text += '\n';
    line(header);
    for (const auto& row : rows) line(row);
  }
  return text;
}

std::string TextTable::markdown() const {
  std::string text = "\n";
  const auto line = [&](const std::vector<std::string>& cells) {
    text += "|";
    for (const std::string& cell : cells) {
      text += " ";
      for (const char c : cell) text += c == '|' ? "\\|" : std::string(1, c);
      text += " |";
    }
    text += "\n";
  };
  line(header);
  line(std::vector<std::string>(header.size(), "---"));
  for (const auto& row : rows) line(row);
  return text;
}

std::string wrapped(const std::string& text, std::size_t width) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    const std::string indent(line.starts_with(' ') ? line.find_first_not_of(' ') + 2 : 0, ' ');
    while (columns(line) > width) {
      std::size_t blank = line.rfind(' ', width);
      if (blank == std::string::npos || blank < indent.size()) break;
      result += line.substr(0, blank) + "\n";
      line = indent + line.substr(blank + 1);
    }
    result += line + "\n";
    begin = end + 1;
  }
  return result;
}

std::string fixed(double value, int digits) {
  if (std::isnan(value)) return "-";
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

}  // namespace draftlab
