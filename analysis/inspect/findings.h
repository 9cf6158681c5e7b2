// Collects what is wrong with a trace: which rule a value breaks, and where.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "analysis/inspect/check_trace.h"

namespace draftlab {

// What a column promises, such as {"step_exact", "is at most step_drafted"}.
struct Rule {
  std::string column, promise;
};

class Findings {
 public:
  explicit Findings(TraceCheck& result) : result_(result) {}

  // Says that a rule is broken: one that a trace must follow, or one that it should follow. `row`
  // is -1 where the rule is not about a row, and `value` is "" where there is none to show.
  void found(bool must, const Rule& rule, std::int64_t row = -1, const std::string& value = "");
  void must(bool holds, const Rule& rule, std::int64_t row = -1, const std::string& value = "") {
    if (!holds) found(true, rule, row, value);
  }
  void should(bool holds, const Rule& rule, std::int64_t row = -1, const std::string& value = "") {
    if (!holds) found(false, rule, row, value);
  }

 private:
  TraceCheck& result_;
  // How often each rule was broken; only the first few are shown.
  std::map<std::string, int> times_;
};

}  // namespace draftlab
