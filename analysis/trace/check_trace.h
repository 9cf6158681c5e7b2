// Is a file what docs/TRACE_FORMAT.md says? Finds every MUST and SHOULD that it breaks.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace draftlab {

// What is wrong at one place. `row` is -1 where a rule is about no row.
struct Finding {
  bool must = true;
  std::string column, what;
  std::int64_t row = -1;
};

struct TraceCheck {
  std::string path, summary;          // "valid, schema 1.0, 2 runs, 10 samples, ..."
  std::vector<Finding> findings;      // of one rule at most kShown
  std::map<std::string, int> hidden;  // and how many more of "column rule"
  static constexpr int kShown = 5;
  bool valid() const;  // no MUST is broken
};

// Never throws for what is wrong with the file. Traces and curves.
TraceCheck check_trace(const std::string& path);

// One line a finding, then the summary; the exit status: 0, or 65 when a MUST is broken.
int print(const TraceCheck& check, std::ostream& out);

}  // namespace draftlab
