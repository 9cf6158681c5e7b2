// Checks that a file is what docs/TRACE_FORMAT.md says, and finds every MUST and SHOULD that it
// breaks.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace draftlab {

// A rule that is broken at one place. `row` is -1 where a rule is about no row.
struct Finding {
  bool must = true;
  std::string column, what;
  std::int64_t row = -1;
};

struct TraceCheck {
  // The summary reads "valid, schema 1.0, 2 runs, 10 samples, ...".
  std::string path, summary;
  // The findings, of one rule at most kShown.
  std::vector<Finding> findings;
  // How many more findings there are, by "column rule".
  std::map<std::string, int> hidden;
  static constexpr int kShown = 5;
  // Says whether no MUST is broken.
  bool valid() const;
};

// How much of a trace is checked: all of it, or the tables `run` and `sample` alone, which takes
// moments for a file of any size.
enum class CheckedPart { all, samples };

// Checks traces and curves. It never throws for what is wrong with the file.
TraceCheck check_trace(const std::string& path, CheckedPart part = CheckedPart::all);

// Returns a warning for each trace that is not valid, with the first rule that it breaks. Traces of
// more than 64 MB are checked in part.
std::string warnings_of_invalid(const std::vector<std::string>& paths);

// Prints one line a finding, then the summary. Returns the exit status: 0, or 65 when a MUST is
// broken.
int print(const TraceCheck& check, std::ostream& out);

}  // namespace draftlab
