#include "plugins/tasks/benchmarks/sandbox.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/memory_file.h"
#include "plugins/tasks/benchmarks/call_filter.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBwrap = "/usr/bin/bwrap";
constexpr std::size_t kLongestMessage = 4096;
// The descriptor at which bubblewrap finds the filter of system calls.
constexpr int kFilterDescriptor = 3;
constexpr int kNotStarted = 127;
constexpr unsigned kNobody = 65534;  // The user as whom a program runs when root starts it.

// The words with which bubblewrap is started. There is no /proc, whose sysctls ask only for the
// user's number outside, and no place to write: not even links and folders can be made, which would
// take memory that no limit counts.
std::vector<std::string> arguments(const std::vector<std::string>& command) {
  std::vector<std::string> all = {kBwrap,          "--unshare-all", "--die-with-parent",
                                  "--new-session", "--clearenv",    "--cap-drop",
                                  "ALL",           "--hostname",    "sandbox"};
  const auto show = [&](const std::string& path) {
    all.insert(all.end(), {"--ro-bind-try", path, path});
  };
  for (const char* path : {"/usr", "/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin",
                           "/etc/ld.so.cache", "/etc/alternatives"})
    show(path);
  // An interpreter elsewhere brings its folder, and that of what its name leads to.
  std::error_code error;
  for (const fs::path& path : {fs::path(command[0]), fs::canonical(command[0], error)})
    if (const std::string folder = path.parent_path().parent_path().string();
        folder.size() > 1 && !folder.starts_with("/usr"))
      show(folder);
  all.insert(all.end(), {"--dev", "/dev", "--remount-ro", "/dev", "--dir", "/tmp", "--remount-ro",
                         "/", "--chdir", "/tmp", "--setenv", "PATH", "/usr/bin:/bin", "--setenv",
                         "HOME", "/tmp", "--seccomp", std::to_string(kFilterDescriptor), "--"});
  all.insert(all.end(), command.begin(), command.end());
  return all;
}

void limit(int resource, std::int64_t most) {
  const rlimit both{static_cast<rlim_t>(most), static_cast<rlim_t>(most)};
  setrlimit(resource, &both);
}

// Ends the child process with a sentence on its standard error.
[[noreturn]] void give_up(const std::string& why) {
  (void)!write(STDERR_FILENO, why.data(), why.size());
  _exit(kNotStarted);
}

// The standard descriptors of a program, and the filter of its system calls.
struct Descriptors {
  int input, output, errors, calls;
};

// Becomes bubblewrap, in the child process. Descriptors other than those named here stay behind.
[[noreturn]] void become_bwrap(const Descriptors& given, const SandboxLimits& limits,
                               char* const* words) {
  setpgid(0, 0);
  dup2(given.input, STDIN_FILENO);
  dup2(given.output, STDOUT_FILENO);
  dup2(given.errors, STDERR_FILENO);
  if (given.calls != kFilterDescriptor) dup2(given.calls, kFilterDescriptor);
  if (syscall(SYS_close_range, kFilterDescriptor + 1, ~0U, 0) != 0)
    give_up("the descriptors of this process cannot be closed (a kernel before 5.9)");
  // What the kernel lets root do, it lets root do in a sandbox as well: its user is nobody instead.
  if (geteuid() == 0 && (setgroups(0, nullptr) != 0 || setresgid(kNobody, kNobody, kNobody) != 0 ||
                         setresuid(kNobody, kNobody, kNobody) != 0))
    give_up("root cannot become another user here, and programs of a model never run as root");
  limit(RLIMIT_CPU, limits.seconds);
  limit(RLIMIT_AS, limits.megabytes << 20);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, 64);
  char* const nothing[] = {nullptr};
  execve(kBwrap, words, nothing);
  _exit(kNotStarted);
}

using Clock = std::chrono::steady_clock;

// A program that runs in a sandbox, which is killed where it has not ended by itself.
class Running {
 public:
  Running(const Sandboxed& program, int output, int errors, const SandboxLimits& limits) {
    const MemoryFile in(program.input), calls(call_filter());
    const std::vector<std::string> words = arguments(program.command);
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    child_ = fork();
    if (child_ < 0) throw OutputError("cannot start a sandbox: no process can be made");
    if (child_ == 0) become_bwrap({in.fd(), output, errors, calls.fd()}, limits, argv.data());
  }
  ~Running() {
    if (child_ <= 0) return;
    // This ends bubblewrap; the sandbox's first process dies with it, and with that all others.
    kill(-child_, SIGKILL);
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  // Waits until it has ended, and returns its exit status; -1 where it was killed or the time is
  // over.
  int status(Clock::time_point end) {
    int status = 0;
    pid_t ended = 0;
    while ((ended = waitpid(child_, &status, WNOHANG)) == 0 && Clock::now() < end) usleep(1000);
    if (ended != child_) return -1;
    child_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t child_ = 0;
};

// A descriptor that is closed at the end, or before.
struct Descriptor {
  int fd = -1;
  ~Descriptor() { end(); }
  void end() {
    if (fd >= 0) close(fd);
    fd = -1;
  }
};

// Returns the last kilobytes of what is written to a pipe, until all writers have closed it, that
// is until they and all that they started have ended, or until the time is over.
std::string message_of(int pipe, Clock::time_point end) {
  std::string message;
  for (bool open = true; open;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd waiting{pipe, POLLIN, 0};
    if (left <= 0 || (poll(&waiting, 1, static_cast<int>(left)) < 0 && errno != EINTR)) break;
    if (!waiting.revents) continue;
    char buffer[4096];
    const ssize_t count = read(pipe, buffer, sizeof buffer);
    open = count > 0 || (count < 0 && errno == EINTR);
    if (count > 0) message.append(buffer, static_cast<std::size_t>(count));
    if (message.size() > kLongestMessage) message.erase(0, message.size() - kLongestMessage);
  }
  while (!message.empty() && message.back() == '\n') message.pop_back();
  return message;
}

// Says why a program cannot be started; "" where it can.
std::string hindrance(const Sandboxed& program) {
  if (access(kBwrap, X_OK) != 0)
    return std::string("there is no ") + kBwrap + " (Debian's package bubblewrap)";
  if (access(program.command[0].c_str(), X_OK) != 0)
    return "there is no program '" + program.command[0] + "'";
  return "";
}

// Runs a program whose standard output is `output`.
SandboxResult run_into(Descriptor& output, const Sandboxed& program, const SandboxLimits& limits) {
  Descriptor errors[2];
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw OutputError("cannot start a sandbox: no pipe can be made");
  errors[0].fd = ends[0], errors[1].fd = ends[1];
  const auto end = Clock::now() + std::chrono::seconds(limits.seconds);
  Running running(program, output.fd, errors[1].fd, limits);
  errors[1].end();
  output.end();
  // A program may close its errors and go on: what is left of the time is its own.
  const std::string message = message_of(errors[0].fd, end);
  return {running.status(end), message};
}

}  // namespace

SandboxResult run_in_sandbox(const Sandboxed& program, const SandboxLimits& limits) {
  if (const std::string why = hindrance(program); !why.empty()) return {-1, why};
  Descriptor nowhere{open("/dev/null", O_WRONLY | O_CLOEXEC)};
  return run_into(nowhere, program, limits);
}

SandboxResult run_against(const Sandboxed& judge, const Sandboxed& judged,
                          const SandboxLimits& limits) {
  for (const Sandboxed& program : {judge, judged})
    if (const std::string why = hindrance(program); !why.empty()) return {-1, why};
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw OutputError("cannot start a sandbox: no socket can be made");
  Descriptor mine{ends[0]}, theirs{ends[1]}, nowhere{open("/dev/null", O_WRONLY | O_CLOEXEC)};
  const Running other(judged, theirs.fd, nowhere.fd, limits);
  theirs.end();
  return run_into(mine, judge, limits);
}

}  // namespace draftlab
