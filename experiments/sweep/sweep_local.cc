#include "experiments/sweep/sweep_local.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <sstream>

#include "core/base/cores.h"
#include "core/base/files.h"
#include "core/base/progress.h"

namespace draftlab {
namespace {

std::atomic<int> interrupts = 0;
void interrupt(int) { ++interrupts; }

constexpr std::size_t kNone = static_cast<std::size_t>(-1);
// The microseconds between two looks at the workers. To wake this process for every sample cost the
// workers 50 us each.
constexpr useconds_t kPace = 50000;
// A worker that dies so often before it has begun a cell is not started again.
constexpr int kMostDeadStarts = 3;

// A process that decodes cells, and the pipe through which it tells how far it is.
struct Child {
  pid_t pid = -1;
  int pipe = -1;
  std::string unread;
  std::size_t cell = kNone;  // The cell in hand.
  // The samples so far of the cell in hand, and of one before it that is on its way to the disk.
  std::map<std::size_t, std::int64_t> samples;
};

class Local {
 public:
  Local(const SweepFolder& folder, int jobs)
      : folder_(folder),
        jobs_(jobs),
        round_(process_identity()),
        claims_(folder.attempts(), folder.lease()),
        progress_(started()) {}
  bool run();

 private:
  Progress started();
  Child start() const;
  void read(Child& child);
  void heard(Child& child, const std::string& line);
  void ended(Child& child, int status);
  void say(const std::string& line) {
    progress_.clear();
    std::cerr << line << std::endl;
  }

  const SweepFolder& folder_;
  int jobs_;
  std::string round_;
  Claims claims_;
  std::int64_t samples_ = 0;
  std::size_t cells_done_ = 0;
  int dead_starts_ = 0;
  Progress progress_;
};

// Cells that are done count as done before.
Progress Local::started() {
  std::int64_t total = 0;
  const std::map<std::string, Attempts> attempts = claims_.all();
  for (const SweepCell& cell : folder_.cells()) {
    const auto found = attempts.find(cell.id);
    const Standing where =
        folder_.standing(cell, found == attempts.end() ? Attempts{} : found->second, claims_);
    if (where == Standing::quarantined) continue;
    total += cell.wanted();
    if (where == Standing::done) samples_ += cell.wanted(), ++cells_done_;
  }
  return Progress("decoding", "samples", total, samples_);
}

Child Local::start() const {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw OutputError("cannot start a worker: {}", std::strerror(errno));
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string log = folder_.path() + "/logs/workers.log",
                    descriptor = std::to_string(ends[1]);
  const std::string threads = std::to_string(std::max(1, usable_threads() / jobs_));
  const pid_t starter = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw OutputError("cannot start a worker: {}", std::strerror(errno));
  if (pid == 0) {
    ::setpgid(0, 0);  // An interrupt from the terminal goes to the starter, which passes it on.
    ::fcntl(ends[1], F_SETFD, 0);
    const int to = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (to >= 0) ::dup2(to, STDOUT_FILENO), ::dup2(to, STDERR_FILENO);
    if (::getppid() != starter) ::_exit(70);
    ::execl(program.c_str(), "draftlab", "sweep", folder_.path().c_str(), "--worker", "--report",
            descriptor.c_str(), "--round", round_.c_str(), "--threads", threads.c_str(),
            static_cast<char*>(nullptr));
    ::_exit(70);
  }
  ::close(ends[1]);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  Child child;
  child.pid = pid, child.pipe = ends[0];
  return child;
}

void Local::heard(Child& child, const std::string& line) {
  std::istringstream words(line);
  std::string what;
  std::size_t index = kNone;
  if (!(words >> what >> index) || index >= folder_.cells().size()) return;
  const SweepCell& cell = folder_.cells()[index];
  const std::string& label = cell.cell.label.empty() ? cell.id : cell.cell.label;
  dead_starts_ = 0;
  if (what == "begin") {
    child.cell = index, child.samples[index] = 0;
  } else if (what == "sample") {
    ++child.samples[index];
    progress_.at(++samples_, std::to_string(cells_done_) + " of " +
                                 std::to_string(folder_.cells().size()) + " cells done");
  } else {
    samples_ +=
        cell.wanted() -
        child.samples[index];  // These were finished by an earlier attempt, or are given up.
    child.samples.erase(index);
    if (child.cell == index) child.cell = kNone;
    cells_done_ += what == "done";
    progress_.at(samples_, std::to_string(cells_done_) + " of " +
                               std::to_string(folder_.cells().size()) + " cells done");
    if (what == "failed") {
      const Attempts attempts = claims_.of(cell.id);
      if (!attempts.empty())
        say(label + " failed with exit status " + std::to_string(attempts.back().exit_status) +
            ": " + attempts.back().reason);
    }
  }
}

void Local::read(Child& child) {
  char buffer[4096];
  for (ssize_t got; (got = ::read(child.pipe, buffer, sizeof buffer)) > 0;)
    child.unread.append(buffer, static_cast<std::size_t>(got));
  std::size_t begin = 0;
  for (std::size_t end; (end = child.unread.find('\n', begin)) != std::string::npos;
       begin = end + 1)
    heard(child, child.unread.substr(begin, end - begin));
  child.unread.erase(0, begin);
}

// A process that died over a cell tells nobody: what is known of it is recorded in its place.
void Local::ended(Child& child, int status) {
  read(child);
  ::close(child.pipe);
  const bool crashed =
      WIFSIGNALED(status) ||
      (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 1 && WEXITSTATUS(status) != 75);
  if (!crashed) return;
  const std::string how = WIFSIGNALED(status)
                              ? std::string("signal ") + std::to_string(WTERMSIG(status)) + " (" +
                                    ::strsignal(WTERMSIG(status)) + ")"
                              : "exit status " + std::to_string(WEXITSTATUS(status));
  if (child.cell == kNone) {
    say("a worker ended with " + how + ": " + last_line(folder_.path() + "/logs/workers.log"));
    ++dead_starts_;
    return;
  }
  for (const auto& [index, samples] : child.samples) {
    const SweepCell& cell = folder_.cells()[index];
    Attempts attempts = claims_.of(cell.id);
    if (attempts.empty() || attempts.back().state != AttemptState::running) continue;
    Attempt& attempt = attempts.back();
    // It is false for a cell that was decoded and waited for the disk.
    const bool blamed = interrupts == 0 && index == child.cell;
    attempt.state = blamed ? AttemptState::failed : AttemptState::interrupted;
    attempt.exit_status = WIFSIGNALED(status) ? 0 : WEXITSTATUS(status);
    attempt.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    attempt.reason = "its process ended with " + how +
                     (attempt.signal == SIGKILL ? "; perhaps the memory did not suffice" : "");
    attempt.last_line = last_line(folder_.log(cell));
    claims_.record(cell.id, attempt);
    if (blamed)
      say((cell.cell.label.empty() ? cell.id : cell.cell.label) + " failed: " + attempt.reason +
          "; its log ends in: " + attempt.last_line);
  }
}

bool Local::run() {
  struct sigaction action {};
  action.sa_handler = interrupt;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGHUP, &action, nullptr);
  std::vector<Child> children;
  for (int i = 0; i < jobs_; ++i) children.push_back(start());
  for (int passed_on = 0; !children.empty();) {
    std::vector<pollfd> pipes;
    for (const Child& child : children) pipes.push_back({child.pipe, POLLIN, 0});
    ::usleep(kPace);
    ::poll(pipes.data(), pipes.size(), 200);
    if (passed_on < std::min<int>(interrupts, 2)) {
      ++passed_on;
      say(passed_on == 1
              ? "interrupted: each worker finishes the sample in hand; interrupt again to drop it"
              : "dropping the samples in hand");
      for (const Child& child : children) ::kill(child.pid, passed_on == 1 ? SIGTERM : SIGKILL);
    }
    std::vector<Child> alive;
    for (Child& child : children) {
      read(child);
      int status = 0;
      if (::waitpid(child.pid, &status, WNOHANG) != child.pid) {
        alive.push_back(std::move(child));
        continue;
      }
      ended(child, status);
      const bool died =
          WIFSIGNALED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 1);
      if (died && interrupts == 0 && dead_starts_ < kMostDeadStarts) alive.push_back(start());
    }
    children = std::move(alive);
  }
  return interrupts == 0 && !folder_.cancelled();
}

}  // namespace

bool run_locally(const SweepFolder& folder, int jobs) { return Local(folder, jobs).run(); }

void forgive_interrupted(const SweepFolder& folder) {
  const Claims claims(folder.attempts(), folder.lease());
  for (const auto& [cell, attempts] : claims.all()) {
    Attempt last = attempts.back();
    if (!claims.abandoned(cell, last)) continue;
    last.state = AttemptState::interrupted;
    last.reason = "its process died, or its machine";
    claims.record(cell, last);
  }
}

}  // namespace draftlab
