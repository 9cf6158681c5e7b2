#include "experiments/export.h"

#include <iostream>

#include "analysis/export_csv.h"
#include "core/error.h"

namespace draftlab {

int export_trace(const CommandLine& line, const Registries&) {
  if (!line.has("csv")) throw UsageError("draftlab export FILE --csv DIR: the folder to write the tables into");
  for (const std::string& path : export_csv(line.paths.at(0), line.flag("csv"))) std::cout << path << "\n";
  return 0;
}

}  // namespace draftlab
