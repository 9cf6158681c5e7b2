#include "core/base/stop_request.h"

#include <signal.h>

#include <atomic>

namespace draftlab {
namespace {

std::atomic<bool> requested = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // A signal handler writes it.

void on_signal(int) {
  request_stop();
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
}

}  // namespace

void request_stop() noexcept { requested = true; }

bool stop_requested() noexcept { return requested; }

void check_stop() {
  if (requested) throw Stopped();
}

StopOnSignals::StopOnSignals() {
  requested = false;
  ::signal(SIGINT, on_signal);
  ::signal(SIGTERM, on_signal);
}

StopOnSignals::~StopOnSignals() {
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
  requested = false;
}

}  // namespace draftlab
