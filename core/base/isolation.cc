#include "core/base/isolation.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <new>

namespace draftlab {
namespace {

std::uint64_t memory_in_use() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// In the child: nothing of its end is to be seen but the status.
[[noreturn]] void run(const std::function<void()>& act, std::uint64_t most_memory,
                      unsigned seconds) {
  for (int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM, SIGXCPU})
    ::signal(signal, SIG_DFL);
  const int nowhere = ::open("/dev/null", O_WRONLY);
  ::dup2(nowhere, STDERR_FILENO);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const rlimit memory{most_memory, most_memory};
  ::setrlimit(RLIMIT_AS, &memory);
#else
  (void)most_memory;
#endif
  const rlimit time{seconds, seconds + 1};
  ::setrlimit(RLIMIT_CPU, &time);
  ::alarm(10 * seconds);
  try {
    act();
  } catch (const std::bad_alloc&) {
    ::_exit(1);
  } catch (...) {}
  ::_exit(0);
}

}  // namespace

bool survives(const std::function<void()>& act, std::uint64_t bytes, unsigned seconds) {
  const std::uint64_t most_memory = memory_in_use() + bytes;
  const pid_t child = ::fork();
  if (child < 0) return true;  // no process to be had: go without the trial
  if (child == 0) run(act, most_memory, seconds);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace draftlab
