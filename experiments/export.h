// `draftlab export FILE` writes a trace in other formats: with --csv DIR as text files, with
// --images DIR as images that other programs read.
#pragma once

#include "core/config/plugin.h"
#include "experiments/arm/command_line.h"

namespace draftlab {

// draftlab export FILE --csv DIR: a trace as text files; --images DIR: its images, as other
// programs read them; --decisions FILE.jsonl: what its verifier decided, as audits read it.
int export_trace(const CommandLine& line, const Registries& registries);

}  // namespace draftlab
