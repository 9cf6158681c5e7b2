// `draftlab bench trace`: how fast a trace is written, merged and read, and what it takes on disk.
#pragma once

#include "experiments/command_line.h"

namespace draftlab {

int bench_trace(const CommandLine& line);

}  // namespace draftlab
