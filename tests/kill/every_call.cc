// A process that is killed before each of its calls that change a file, one run a call: whatever
// was reported as finished is there, every file of the trace opens, and a resume ends with the
// contents of a run that was not interrupted. Once more with writes of which only half arrives, and
// once more as if the power were cut: what was not synced is gone, and so are renames in a folder
// that was not.
//
// The functions below stand before those of the C library for this program and the libraries it
// loads.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <cstdarg>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "experiments/sections.h"
#include "experiments/sweep/claims.h"
#include "experiments/sweep/sweep_folder.h"
#include "plugins/builtin.h"
#include "tests/core/trace/trace_fixture.h"

namespace {

std::atomic<long> calls = 0, fatal = -1;  // Calls are counted only while `fatal` is at least 0.
bool torn = false;
int result_pipe = -1;  // What is written there is no file.

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

// What a disk would not have yet.
struct Unsynced {
  bool counts = false;
  std::map<int, std::string> opened;  // The paths of descriptors.
  std::set<std::string> files;        // The files that were written since their last sync.
  std::vector<std::pair<std::string, std::string>> renames;  // The renames to names that were free.

  void written(int fd) {
    if (counts && opened.count(fd)) files.insert(opened[fd]);
  }
  void synced(int fd) {
    if (!counts || !opened.count(fd)) return;
    const std::string path = opened[fd];
    files.erase(path);
    std::erase_if(renames, [&](const auto& names) {
      return std::filesystem::path(names.second).parent_path() == path;
    });
  }
  void renamed(const std::string& from, const std::string& to, bool was_free) {
    if (!counts) return;
    if (files.erase(from)) files.insert(to);
    if (was_free) renames.emplace_back(from, to);
  }
  void lose() {
    static const auto rename = next<int (*)(const char*, const char*)>("rename");
    for (const std::string& path : files) (void)!::truncate(path.c_str(), 0);
    for (auto names = renames.rbegin(); names != renames.rend(); ++names)
      rename(names->second.c_str(), names->first.c_str());
  }
};
Unsynced unsynced;

void strike() {
  if (fatal < 0 || calls++ != fatal) return;
  unsynced.lose();
  ::kill(::getpid(), SIGKILL);
}

}  // namespace

extern "C" {
ssize_t write(int fd, const void* bytes, size_t count) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  if (fd != result_pipe && fd > 2) {
    if (torn && fatal >= 0 && calls == fatal) real(fd, bytes, count / 2);
    strike();
    unsynced.written(fd);
  }
  return real(fd, bytes, count);
}
int open(const char* path, int flags, ...) {
  static const auto real = next<int (*)(const char*, int, ...)>("open");
  va_list list;
  va_start(list, flags);
  const mode_t mode = va_arg(list, mode_t);
  va_end(list);
  if (flags & O_CREAT) strike();
  const int fd = real(path, flags, mode);
  if (unsynced.counts) unsynced.opened[fd] = path;
  return fd;
}
int rename(const char* from, const char* to) {
  static const auto real = next<int (*)(const char*, const char*)>("rename");
  strike();
  const bool was_free = ::access(to, F_OK) != 0;
  const int result = real(from, to);
  if (result == 0) unsynced.renamed(from, to, was_free);
  return result;
}
int fsync(int fd) {
  static const auto real = next<int (*)(int)>("fsync");
  strike();
  const int result = real(fd);
  if (result == 0) unsynced.synced(fd);
  return result;
}
int unlink(const char* path) {
  static const auto real = next<int (*)(const char*)>("unlink");
  strike();
  return real(path);
}
int unlinkat(int folder, const char* path, int flags) {
  static const auto real = next<int (*)(int, const char*, int)>("unlinkat");
  strike();
  return real(folder, path, flags);
}
int remove(const char* path) {
  static const auto real = next<int (*)(const char*)>("remove");
  strike();
  return real(path);
}
int rmdir(const char* path) {
  static const auto real = next<int (*)(const char*)>("rmdir");
  strike();
  return real(path);
}
int mkdir(const char* path, mode_t mode) {
  static const auto real = next<int (*)(const char*, mode_t)>("mkdir");
  strike();
  return real(path, mode);
}
int futimens(int fd, const struct timespec times[2]) {
  static const auto real = next<int (*)(int, const struct timespec[2])>("futimens");
  strike();
  return real(fd, times);
}
}

namespace draftlab {
namespace {

constexpr int kSamples = 6;

// What a child did before it ended, as numbers through a pipe: the largest is the samples it
// reported as finished.
struct Outcome {
  bool killed = false;
  int status = 0, reported = 0;
};

Outcome in_child(long fatal_call, bool tear,
                 const std::function<void(const std::function<void(int)>&)>& act,
                 bool cut_power = false) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    int status = 0;
    unsynced.counts = cut_power;
    result_pipe = ends[1], torn = tear, calls = 0, fatal = fatal_call;
    try {
      act([&](int value) {
        const auto byte = static_cast<char>(value);
        if (::write(ends[1], &byte, 1) != 1) status = 2;
      });
    } catch (const std::exception&) {
      status = 1;
    }
    ::_exit(status);
  }
  ::close(ends[1]);
  Outcome outcome;
  for (char value = 0; ::read(ends[0], &value, 1) == 1;) outcome.reported = value;
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  outcome.killed = WIFSIGNALED(status);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  return outcome;
}

void decode(const std::string& path, const std::function<void(int)>& report) {
  TraceOptions options;
  options.unit_tokens = 12;
  TraceWriter writer(path, {{}, made_runs()}, options, true);
  for (int i = 0; i < kSamples; ++i) {
    if (writer.finished(i % 2, i / 2, 0)) continue;
    writer.sample(made_sample(i % 2, i / 2, 0));
    report(static_cast<int>(writer.finished()));
  }
  writer.close();
}

void kill_at_every_call(bool tear, bool cut_power = false) {
  const TraceFolder folder("every-call");
  const std::string whole = folder / "whole.h5", path = folder / "a.h5";
  write_made(whole, kSamples);
  long call = 0;
  for (bool killed = true; killed; ++call) {
    CAPTURE(call);
    std::filesystem::remove_all(path);
    std::filesystem::remove_all(path + ".units");
    const Outcome outcome = in_child(
        call, tear, [&](const auto& report) { decode(path, report); }, cut_power);
    killed = outcome.killed;
    if (!killed) CHECK(outcome.status == 0);
    if (std::filesystem::exists(path)) CHECK(differs_in(path, whole) == "");
    if (std::filesystem::exists(path + ".units")) {
      for (const auto& unit : std::filesystem::directory_iterator(path + ".units")) {
        if (unit.path().extension() == ".h5") CHECK(Trace(unit.path().string()).samples() > 0);
      }
    }
    CHECK(TraceWriter(path, {{}, made_runs()}, TraceOptions{}, true).finished() >=
          static_cast<std::size_t>(outcome.reported));
    decode(path, [](int) {});
    CHECK(differs_in(path, whole) == "");
    CHECK_FALSE(std::filesystem::exists(path + ".units"));
  }
  MESSAGE("calls: ", call);
  CHECK(call > 20);
}

}  // namespace

TEST_CASE("a run killed before every call loses nothing") { kill_at_every_call(false); }
TEST_CASE("a run killed after half of every write loses nothing") { kill_at_every_call(true); }

TEST_CASE("a power cut before every call loses nothing that was reported") {
  kill_at_every_call(false, true);
}

TEST_CASE("an attempt killed before every call leaves a cell that can be claimed") {
  const TraceFolder folder("every-call-claim");
  long call = 0;
  for (bool killed = true; killed; ++call) {
    CAPTURE(call);
    std::filesystem::remove_all(folder / "attempts");
    const Outcome outcome = in_child(call, call % 2, [&](const auto& report) {
      Claims claims(folder / "attempts", 300);
      if (!claims.claim("cell", 1, "round")) throw Fault("a first claim failed");
      claims.finish(AttemptState::done, {});
      report(1);
    });
    killed = outcome.killed;
    Claims claims(folder / "attempts", 300);
    const Attempts attempts = claims.of("cell");
    if (outcome.reported) CHECK(attempts.back().state == AttemptState::done);
    if (attempts.empty() || attempts.back().state != AttemptState::done) {
      // What was claimed and not yet signed is given up when its lease ends; what was signed, at
      // once.
      const bool signed_by_the_dead = !attempts.empty() && !attempts.back().owner.empty();
      if (signed_by_the_dead) CHECK(claims.abandoned("cell", attempts.back()));
      CHECK(claims.claim("cell", attempts.empty() ? 1 : attempts.back().number + 1, "round"));
      claims.finish(AttemptState::done, {});
    }
  }
  CHECK(call > 6);
}

TEST_CASE("a sweep killed before every call of its beginning can be begun again") {
  const TraceFolder folder("every-call-sweep");
  const std::string path = folder / "sweep";
  Registries registries;
  register_builtin_plugins(registries);
  register_sections(registries);
  Diagnostics diagnostics;
  const Config config = Config::parse(
      "model = table\ntask = positions\n[sweep]\nrouter = always, never\n", "a.ini", diagnostics);
  diagnostics.raise();
  long call = 0;
  for (bool killed = true; killed; ++call) {
    CAPTURE(call);
    std::filesystem::remove_all(path);
    killed = in_child(call, call % 2, [&](const auto&) {
               SweepFolder::freeze(path, config, registries);
             }).killed;
    CHECK(SweepFolder::may_begin(path));
    CHECK(SweepFolder::freeze(path, config, registries).cells().size() == 2);
    CHECK(SweepFolder::open(path, registries).cells().size() == 2);
  }
  CHECK(call > 8);
}

}  // namespace draftlab
