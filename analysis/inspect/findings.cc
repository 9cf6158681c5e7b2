#include "analysis/inspect/findings.h"

#include <algorithm>
#include <sstream>

namespace draftlab {

std::string Instead::text() const {
  std::ostringstream text;
  if (const auto* integer = std::get_if<std::int64_t>(&value_)) text << ", not " << *integer;
  if (const auto* number = std::get_if<double>(&value_)) text << ", not " << *number;
  if (const auto* words = std::get_if<std::string_view>(&value_)) text << ", not " << *words;
  return text.str();
}

void Findings::found(bool must, const Rule& rule, std::int64_t row, const Instead& instead) {
  const std::string key = std::string(rule.column) + " " + std::string(rule.promise);
  // Rules about rows concern declared columns, whose names are printable.
  if (++times_[key] > TraceCheck::kShown) {
    ++result_.hidden[key];
    return;
  }
  std::string shown(rule.column);
  std::replace_if(
      shown.begin(), shown.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  result_.findings.push_back({must, shown, std::string(rule.promise) + instead.text(), row});
}

}  // namespace draftlab
