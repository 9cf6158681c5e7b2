#include "core/base/copies.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/stop_request.h"

namespace draftlab {
namespace {

using Counter = std::atomic<std::int64_t>;
static_assert(Counter::is_always_lock_free);  // Several processes write it.

// The milliseconds between two looks at whether a stop was requested.
constexpr int kPace = 200;

// What a text is: one that was said, or the sentence of an error and how it ends the process.
struct Head {
  std::uint64_t length = 0;
  std::int32_t failed = 0, status = 0;
};

// The status of an error that is none of the user's.
constexpr std::int32_t kUnknown = -1;

void write_all(int pipe, const void* from, std::size_t length) {
  const char* bytes = static_cast<const char*>(from);
  while (length > 0) {
    const ssize_t written = ::write(pipe, bytes, length);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) ::_exit(70);  // Nobody hears this process any more.
    bytes += written, length -= static_cast<std::size_t>(written);
  }
}

void send(int pipe, Head head, const std::string& text) {
  head.length = text.size();
  std::string message(reinterpret_cast<const char*>(&head), sizeof head);
  message += text;
  write_all(pipe, message.data(), message.size());
}

class OneCopy final : public Copy {
 public:
  OneCopy(int pipe, Counter& counter) : pipe_(pipe), counter_(counter) {}
  std::int64_t next() override { return counter_++; }
  void say(const std::string& text) override { send(pipe_, {}, text); }

 private:
  int pipe_;
  Counter& counter_;
};

// A copy, seen from the process that made it.
struct Made {
  pid_t process = -1;
  int pipe = -1;
  std::string unread = {};
};

// Holds back requests to stop, or lets them through.
void hold_stops(int how) {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  ::sigprocmask(how, &stop, nullptr);
}

// Runs in the copy, which ends here: nothing that this process owns is destroyed twice.
[[noreturn]] void run(const std::function<void(Copy&)>& work, int pipe, Counter& counter) {
  const StopOnSignals stopping;
  hold_stops(SIG_UNBLOCK);
  OneCopy copy(pipe, counter);
  try {
    work(copy);
  } catch (const Stopped&) {
  } catch (const Error& error) {
    send(pipe, {.failed = 1, .status = error.status()}, error.what());
  } catch (const std::exception& error) {
    send(pipe, {.failed = 1, .status = kUnknown}, error.what());
  } catch (...) {
    send(pipe, {.failed = 1, .status = kUnknown}, "a part threw something that is no exception");
  }
  std::cout.flush();
  std::cerr.flush();
  ::_exit(0);
}

class Copies {
 public:
  Copies(const std::function<void(Copy&)>& work,
         const std::function<void(const std::string&)>& heard)
      : work_(work), heard_(heard) {
    void* const shared =
        ::mmap(nullptr, sizeof(Counter), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) throw OutputError("cannot share memory: {}", std::strerror(errno));
    counter_ = new (shared) Counter(0);
  }
  ~Copies() {
    for (const Made& copy : alive_) {
      ::kill(copy.process, SIGKILL);
      ::waitpid(copy.process, nullptr, 0);
      ::close(copy.pipe);
    }
    ::munmap(counter_, sizeof(Counter));
  }
  Copies(const Copies&) = delete;

  void make();
  // Hears all copies to their ends.
  void hear();
  // Throws what one of them failed with.
  void raise() const;

 private:
  void read(Made& copy);
  void ended(Made& copy);
  void stop();

  const std::function<void(Copy&)>& work_;
  const std::function<void(const std::string&)>& heard_;
  Counter* counter_;
  std::vector<Made> alive_;
  bool stopped_ = false, failed_ = false;
  Head failure_;
  std::string sentence_;
  int signal_ = 0;
};

void Copies::make() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw OutputError("cannot start a worker: {}", std::strerror(errno));
  std::cout.flush();
  const pid_t maker = ::getpid();
  hold_stops(SIG_BLOCK);  // The copy lets them through once it has a handler of its own.
  const pid_t process = ::fork();
  if (process != 0) hold_stops(SIG_UNBLOCK);
  if (process < 0) throw OutputError("cannot start a worker: {}", std::strerror(errno));
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != maker) ::_exit(70);
    ::setpgid(0, 0);  // An interrupt from the terminal goes to the maker, which passes it on.
    ::signal(SIGPIPE, SIG_DFL);
    ::close(ends[0]);
    run(work_, ends[1], *counter_);
  }
  ::close(ends[1]);
  alive_.push_back({process, ends[0]});
}

void Copies::read(Made& copy) {
  char buffer[1 << 16];
  ssize_t got = 0;
  do got = ::read(copy.pipe, buffer, sizeof buffer);
  while (got < 0 && errno == EINTR);
  if (got <= 0) return ended(copy);
  copy.unread.append(buffer, static_cast<std::size_t>(got));
  Head head;
  std::size_t at = 0;
  for (; copy.unread.size() - at >= sizeof head; at += sizeof head + head.length) {
    std::memcpy(&head, copy.unread.data() + at, sizeof head);
    if (copy.unread.size() - at - sizeof head < head.length) break;
    const std::string text = copy.unread.substr(at + sizeof head, head.length);
    if (head.failed == 0)
      heard_(text);
    else if (!std::exchange(failed_, true))
      failure_ = head, sentence_ = text;
  }
  copy.unread.erase(0, at);
}

void Copies::ended(Made& copy) {
  int status = 0;
  while (::waitpid(copy.process, &status, 0) < 0 && errno == EINTR) {}
  ::close(copy.pipe);
  copy.process = -1;
  if (WIFSIGNALED(status) && !std::exchange(failed_, true)) signal_ = WTERMSIG(status);
}

void Copies::stop() {
  if (std::exchange(stopped_, true)) return;
  for (const Made& copy : alive_)
    if (copy.process > 0) ::kill(copy.process, SIGTERM);
}

void Copies::hear() {
  while (!alive_.empty()) {
    if (failed_ || stop_requested()) stop();
    std::vector<pollfd> pipes;
    for (const Made& copy : alive_) pipes.push_back({copy.pipe, POLLIN, 0});
    if (::poll(pipes.data(), pipes.size(), kPace) <= 0) continue;
    for (std::size_t i = 0; i < alive_.size(); ++i)
      if (pipes[i].revents != 0) read(alive_[i]);
    std::erase_if(alive_, [](const Made& copy) { return copy.process < 0; });
  }
}

void Copies::raise() const {
  if (!failed_) return;
  if (signal_ == SIGKILL)
    throw Error(70,
                "a worker was killed; perhaps the memory did not suffice: fewer run.workers "
                "need less");
  if (signal_ != 0) {
    ::signal(signal_, SIG_DFL);
    ::raise(signal_);
  }
  if (failure_.status == kUnknown) throw std::runtime_error(sentence_);
  throw Error(failure_.status, sentence_);
}

}  // namespace

void in_copies(int count, const std::function<void(Copy&)>& work,
               const std::function<void(const std::string&)>& heard) {
  Copies copies(work, heard);
  for (int i = 0; i < count; ++i) copies.make();
  copies.hear();
  copies.raise();
}

void in_order(int copies, std::int64_t count, const std::function<std::string(std::int64_t)>& work,
              const std::function<void(const std::string&)>& heard) {
  if (copies <= 1 || count <= 1) {
    for (std::int64_t number = 0; number < count; ++number) heard(work(number));
    return;
  }
  std::map<std::int64_t, std::string> early;  // What was heard before its turn.
  std::int64_t turn = 0;
  in_copies(
      static_cast<int>(std::min<std::int64_t>(copies, count)),
      [&](Copy& copy) {
        for (std::int64_t number; (number = copy.next()) < count;)
          copy.say(std::to_string(number) + " " + work(number));
      },
      [&](const std::string& said) {
        const std::size_t blank = said.find(' ');
        early[std::stoll(said)] = said.substr(blank + 1);
        for (auto next = early.begin(); next != early.end() && next->first == turn;
             next = early.erase(next), ++turn)
          heard(next->second);
      });
}

}  // namespace draftlab
