// A request that the present work end soon and in order. A signal makes it; code that asks a
// question or waits for another process checks for it.
#pragma once

#include "core/base/error.h"

namespace draftlab {

// Says that work ended because that was asked for; what was finished before is kept.
struct Stopped : ErrorOf<130> {
  Stopped() : ErrorOf("interrupted") {}
};

// Asks all work of this process to stop. A signal handler may call it.
void request_stop() noexcept;
bool stop_requested() noexcept;
// Throws Stopped once a stop was requested.
void check_stop();

// While an object of this class lives, the first SIGINT or SIGTERM requests a stop. A second signal
// ends the process at once, as it does a program that has no handler, because a part in an endless
// loop never checks.
class StopOnSignals {
 public:
  StopOnSignals();
  ~StopOnSignals();
  StopOnSignals(const StopOnSignals&) = delete;
};

}  // namespace draftlab
