// The order in which the arms of a run decode what its trace does not hold yet, in this process or
// in copies of it side by side.
#pragma once

#include <vector>

#include "core/base/progress.h"
#include "core/trace/trace_file.h"
#include "experiments/arm/loaded_arm.h"

namespace draftlab {

// Returns how many processes may decode the arms: run.workers, or as many as there are processors
// where copies of this process can decode at all. That needs models on the CPU that compute with
// one thread, samples that are decoded one by one, and no part in another process, which answers
// one; models of a server are known once they were loaded. Throws ConfigError where run.workers
// asks for what cannot be.
int workers_of(const std::vector<ComposedArm>& arms);

// Decodes what the trace does not hold yet. At batch 1 arms take turns on the same prompts,
// forwards and backwards (A B B A), so that a machine that speeds up or slows down does so for all
// of them; a turn of all arms is decoded by one worker. In a batch samples have no times of their
// own, and each arm decodes all of its own. It returns early where a stop is requested, with what
// was finished in the trace.
void decode_missing(const std::vector<LoadedArm>& arms, int workers, Progress& progress,
                    TraceWriter& writer);

}  // namespace draftlab
