// Collects what is wrong with a trace: which rule a value breaks, and where.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "analysis/inspect/check_trace.h"

namespace draftlab {

// What a column promises, such as {"step_exact", "is at most step_drafted"}.
struct Rule {
  std::string_view column, promise;
};

// What stands there instead, if anything can be shown. Most rules hold in each of millions of rows,
// so a number is written as text only where one is broken.
class Instead {
 public:
  Instead() = default;
  Instead(std::integral auto number) : value_(static_cast<std::int64_t>(number)) {}
  Instead(double number) : value_(number) {}
  Instead(std::string_view text) : value_(text) {}
  Instead(const char* text) : value_(std::string_view(text)) {}
  Instead(const std::string& text) : value_(std::string_view(text)) {}
  // ", not 7", or "".
  std::string text() const;

 private:
  std::variant<std::monostate, std::int64_t, double, std::string_view> value_;
};

class Findings {
 public:
  explicit Findings(TraceCheck& result) : result_(result) {}

  // Says that a rule is broken: one that a trace must follow, or one that it should follow. `row`
  // is -1 where the rule is not about a row.
  void found(bool must, const Rule& rule, std::int64_t row = -1, const Instead& instead = {});
  void must(bool holds, const Rule& rule, std::int64_t row = -1, const Instead& instead = {}) {
    if (!holds) found(true, rule, row, instead);
  }
  void should(bool holds, const Rule& rule, std::int64_t row = -1, const Instead& instead = {}) {
    if (!holds) found(false, rule, row, instead);
  }

 private:
  TraceCheck& result_;
  // How often each rule was broken; only the first few are shown.
  std::map<std::string, int> times_;
};

}  // namespace draftlab
