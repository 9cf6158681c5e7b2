#include "experiments/check_trace.h"

#include <algorithm>
#include <iostream>

#include "analysis/trace/check_trace.h"
#include "core/trace/schema.h"

namespace draftlab {

int check_trace(const CommandLine& line, const Registries&) {
  if (line.has("schema")) {
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

}  // namespace draftlab
