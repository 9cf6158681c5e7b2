#include "core/base/isolation.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <new>
#include <utility>

namespace draftlab {
namespace {

std::uint64_t memory_in_use() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

struct Limits {
  // Of all memory of the child, in bytes, and of its processor time.
  std::uint64_t memory;
  unsigned seconds;
};

void keep_to(const Limits& limits) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const rlimit memory{limits.memory, limits.memory};
  ::setrlimit(RLIMIT_AS, &memory);
#endif
  const rlimit time{limits.seconds, limits.seconds + 1};
  ::setrlimit(RLIMIT_CPU, &time);
  ::alarm(10 * limits.seconds);
}

// Runs in the child. Nothing of how it ends is visible but its exit status.
[[noreturn]] void run(const std::function<void()>& act, const std::optional<Limits>& limits) {
  // Who asked for the work may be killed, and nobody else waits for it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM, SIGXCPU})
    ::signal(signal, SIG_DFL);
  const int nowhere = ::open("/dev/null", O_WRONLY);
  ::dup2(nowhere, STDERR_FILENO);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  if (limits) keep_to(*limits);
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
  const Limits limits{memory_in_use() + bytes, seconds};
  const pid_t child = ::fork();
  if (child < 0) return true;  // No process can be made, so the trial is skipped.
  if (child == 0) run(act, limits);
  return ended_well(child);
}

namespace {

// A child that tells through a pipe what `act` returned.
struct Teller {
  pid_t child;
  int pipe;
};

// Makes one; nothing where no process can be made.
std::optional<Teller> teller(const std::function<std::string()>& act,
                             const std::optional<Limits>& limits) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    const auto tell = [&] {
      try {
        if (write_all(ends[1], act()) != 0) ::_exit(1);
      } catch (...) {
        ::_exit(1);
      }
    };
    run(tell, limits);
  }
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    return {};
  }
  return Teller{child, ends[0]};
}

std::optional<std::string> what_is_told(const Teller& by) {
  std::string answer;
  char buffer[65536];
  for (ssize_t got; (got = ::read(by.pipe, buffer, sizeof buffer)) != 0;) {
    if (got < 0 && errno != EINTR) break;
    answer.append(buffer, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }
  ::close(by.pipe);
  if (!ended_well(by.child)) return {};
  return answer;
}

}  // namespace

std::optional<std::string> answer_of_child(const std::function<std::string()>& act,
                                           std::uint64_t bytes, unsigned seconds) {
  const auto by = teller(act, Limits{memory_in_use() + bytes, seconds});
  return by ? what_is_told(*by) : act();
}

ChildWork::ChildWork(const std::function<std::string()>& act) {
  if (const auto by = teller(act, {})) {
    child_ = by->child;
    from_child_ = by->pipe;
  } else {
    own_ = act();
  }
}

ChildWork::~ChildWork() {
  if (child_ < 0) return;
  ::kill(child_, SIGKILL);
  ::close(from_child_);
  ended_well(child_);
}

std::optional<std::string> ChildWork::answer() {
  if (child_ < 0) return std::exchange(own_, {});
  return what_is_told({std::exchange(child_, -1), from_child_});
}

}  // namespace draftlab
