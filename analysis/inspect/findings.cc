#include "analysis/inspect/findings.h"

#include <algorithm>

namespace draftlab {

void Findings::found(bool must, const Rule& rule, std::int64_t row, const std::string& value) {
  const std::string key = rule.column + " " + rule.promise;
  // Rules about rows concern declared columns, whose names are printable.
  if (++times_[key] > TraceCheck::kShown) {
    ++result_.hidden[key];
    return;
  }
  std::string shown = rule.column;
  std::replace_if(
      shown.begin(), shown.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  result_.findings.push_back(
      {must, shown, rule.promise + (value.empty() ? "" : ", not " + value), row});
}

}  // namespace draftlab
