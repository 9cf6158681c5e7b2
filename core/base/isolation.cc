#include "core/base/isolation.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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

// Runs in the child. Nothing of how it ends is visible but its exit status.
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

// All of it, or errno.
int write_all(int fd, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = ::write(fd, text.data() + at, text.size() - at);
    if (written < 0 && errno != EINTR) return errno;
    at += static_cast<std::size_t>(std::max<ssize_t>(written, 0));
  }
  return 0;
}

bool ended_well(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

bool survives(const std::function<void()>& act, std::uint64_t bytes, unsigned seconds) {
  const std::uint64_t most_memory = memory_in_use() + bytes;
  const pid_t child = ::fork();
  if (child < 0) return true;  // No process can be made, so the trial is skipped.
  if (child == 0) run(act, most_memory, seconds);
  return ended_well(child);
}

std::optional<std::string> answer_of_child(const std::function<std::string()>& act,
                                           std::uint64_t bytes, unsigned seconds) {
  const std::uint64_t most_memory = memory_in_use() + bytes;
  int ends[2];
  const pid_t child = ::pipe2(ends, O_CLOEXEC) == 0 ? ::fork() : -1;
  if (child < 0) return act();  // Where no process can be made, the work is done here.
  if (child == 0) {
    const auto tell = [&] {
      try {
        if (write_all(ends[1], act()) != 0) ::_exit(1);
      } catch (...) {
        ::_exit(1);
      }
    };
    run(tell, most_memory, seconds);
  }
  ::close(ends[1]);
  std::string answer;
  char buffer[65536];
  for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) != 0;) {
    if (got < 0 && errno != EINTR) break;
    answer.append(buffer, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }
  ::close(ends[0]);
  if (!ended_well(child)) return {};
  return answer;
}

}  // namespace draftlab
