#include "analysis/figures/script_text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

namespace draftlab {
namespace {

// The number of a shape among gnuplot's points. Letters have none.
int point_type(const std::string& shape) {
  static const std::map<std::string, int> types = {
      {"disc", 7},          {"square", 5},        {"triangle", 9},    {"diamond", 13},
      {"wedge", 11},        {"pentagon", 15},     {"ring", 6},        {"open square", 4},
      {"open diamond", 12}, {"open triangle", 8}, {"open wedge", 10}, {"open pentagon", 14},
      {"plus", 1},          {"star", 3}};
  const auto found = types.find(shape);
  return found == types.end() ? 0 : found->second;
}

// Where the text that still has to be shown is cut: behind a colon of its first line, else at the
// last space that fits.
std::size_t cut_of(const std::string& text, std::size_t most) {
  std::size_t colon = 0, space = 0, column = 0;
  for (std::size_t at = 0; at < text.size() && column <= most; ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) continue;
    if (text[at] == ' ') (text[at - (at > 0)] == ':' ? colon : space) = at;
    ++column;
  }
  return colon > 0 ? colon : space;
}

}  // namespace

std::string ink_style(std::size_t mark) { return "lc rgb '" + mark_colour(mark) + "'"; }

std::string shape_style(std::size_t mark) {
  const std::string shape = mark_shape(mark);
  const int type = point_type(shape);
  return type > 0 ? "pt " + std::to_string(type) : "pt '" + shape + "'";
}

std::string point_style(std::size_t mark) { return ink_style(mark) + " " + shape_style(mark); }

std::string ink_of(const std::string& style) { return style.substr(0, style.find(" pt")); }

std::string gnuplot_text(const std::string& text) {
  std::string result = "'";
  for (char c : text) {
    if (c == '\'')
      result += "''";
    else
      result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result + "'";
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return "NaN";
  std::ostringstream out;
  out.precision(7);
  out << value;
  return out.str();
}

std::string estimate_text(const Estimate& estimate) {
  return number_text(estimate.value) + " " + number_text(estimate.interval.low) + " " +
         number_text(estimate.interval.high);
}

Estimate bounded(const Estimate& estimate) {
  const bool known = std::isfinite(estimate.interval.low) && std::isfinite(estimate.interval.high);
  return {estimate.value, known ? estimate.interval : Interval{estimate.value, estimate.value}};
}

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string shortened(const std::string& text, std::size_t most) {
  if (characters(text) <= most) return text;
  std::size_t end = 0;
  for (std::size_t columns = 0; end < text.size(); ++end) {
    if ((static_cast<unsigned char>(text[end]) & 0xC0) != 0x80 && ++columns >= most) break;
  }
  return text.substr(0, end) + "\u2026";
}

std::vector<std::string> lines_of(const std::string& text, std::size_t most) {
  most = std::max<std::size_t>(most, 1);
  std::vector<std::string> lines;
  std::string rest = text;
  while (characters(rest) > most) {
    if (const std::size_t at = cut_of(rest, most); at > 0) {
      lines.push_back(rest.substr(0, at));
      rest.erase(0, at + 1);
      continue;
    }
    std::size_t end = 0;
    for (std::size_t columns = 0; end < rest.size(); ++end)
      if ((static_cast<unsigned char>(rest[end]) & 0xC0) != 0x80 && columns++ == most) break;
    lines.push_back(rest.substr(0, end));
    rest.erase(0, end);
  }
  lines.push_back(rest);
  return lines;
}

std::string gnuplot_lines(const std::string& text, std::size_t most) {
  std::string result;
  for (const std::string& line : lines_of(text, most))
    result += (result.empty() ? "" : ".\"\\n\".") + gnuplot_text(line);
  return result;
}

}  // namespace draftlab
