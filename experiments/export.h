// `draftlab export FILE` writes a trace in other formats: with --csv DIR as text files, with
// --images DIR as images that other programs read.
#pragma once

#include "core/config/plugin.h"
#include "experiments/arm/command_line.h"

namespace draftlab {

// draftlab export FILE --csv DIR: a trace as text files; --images DIR: its images, as other
// programs read them; --decisions FILE.jsonl: what its verifier decided, as audits read it;
// --profile DIR and --requests FILE.jsonl: how many drafts were accepted, in the formats of NVIDIA
// and vLLM; --corpus FILE.txt: its texts as token ids, as drafters look them up.
int export_trace(const CommandLine& line, const Registries& registries);

}  // namespace draftlab
