// `draftlab check-trace FILE` validates traces against their schema.
#include <algorithm>
#include <iostream>

#include "analysis/inspect/check_trace.h"
#include "core/base/error.h"
#include "core/trace/schema.h"
#include "experiments/check/check.h"

namespace draftlab {
namespace {

struct CheckTraceFlags {
  bool schema = false;
  void declare(OptionSet& set) {
    set.add("schema", &schema).help("Prints the tables of docs/TRACE_FORMAT.md.");
  }
};

int check_traces(const CheckTraceFlags& flags, const CommandLine& line, const Registries&) {
  if (flags.schema) {
    std::cout << schema_markdown();
    return 0;
  }
  if (line.paths.empty())
    throw UsageError("draftlab check-trace takes one or more traces, or --schema");
  int status = 0;
  for (const std::string& path : line.paths)
    status = std::max(status, print(check_trace(path), std::cout));
  return status;
}

}  // namespace

Command check_trace_command() {
  return {.name = "check-trace",
          .arguments = "FILE...",
          .summary = "validate traces against their schema",
          .fewest = 0,
          .most = kAnyNumber,
          .flags = with_flags(check_traces)};
}

}  // namespace draftlab
