// A run that is killed at any moment loses no finished sample, and goes on to the contents of a run
// that was not.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <random>
#include <thread>

#include "core/base/error.h"
#include "tests/core/trace/trace_fixture.h"

namespace draftlab {
namespace {

constexpr int kSamples = 10;

// Decodes what is not done yet, and tells through the pipe how many samples are: each number is
// true when it is sent.
[[noreturn]] void decode(const std::string& path, int pipe) {
  int status = 0;
  try {
    TraceOptions options;
    options.unit_tokens = 12;
    TraceWriter writer(path, {{}, made_runs()}, options, true);
    for (int i = 0; i < kSamples; ++i) {
      if (writer.finished(i % 2, i / 2, 0)) continue;
      writer.sample(made_sample(i % 2, i / 2, 0));
      const auto done = static_cast<char>(writer.finished());
      if (::write(pipe, &done, 1) != 1) status = 2;
    }
    writer.close();
  } catch (...) {
    status = 1;
  }
  ::_exit(status);
}

struct Outcome {
  bool killed;
  int reported;  // The samples that the child said were done.
};

Outcome run_for(const std::string& path, std::chrono::microseconds time) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) decode(path, ends[1]);
  ::close(ends[1]);
  int status = 0;
  const auto end = std::chrono::steady_clock::now() + time;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() >= end) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  int reported = 0;
  for (char done = 0; ::read(ends[0], &done, 1) == 1;) reported = done;
  ::close(ends[0]);
  CHECK((WIFSIGNALED(status) || WEXITSTATUS(status) == 0));
  return {WIFSIGNALED(status), reported};
}

}  // namespace

TEST_SUITE("sigkill") {
  TEST_CASE("a killed run keeps what was finished and resumes to the same contents") {
    const TraceFolder folder("sigkill");
    const std::string whole = folder / "whole.h5", path = folder / "a.h5";
    write_made(whole, kSamples);
    std::mt19937 random(1);
    // Kills fall within the time that a run takes here and now.
    const auto start = std::chrono::steady_clock::now();
    CHECK_FALSE(run_for(path, std::chrono::seconds(60)).killed);
    const auto usual = std::chrono::duration_cast<std::chrono::microseconds>(
                           std::chrono::steady_clock::now() - start)
                           .count();
    int kills = 0, rounds = 0;
    const auto began = std::chrono::steady_clock::now();
    auto time_left = [&] {
      return std::chrono::steady_clock::now() - began < std::chrono::seconds(15);
    };
    while (time_left()) {
      std::filesystem::remove_all(path);
      std::filesystem::remove_all(path + ".units");
      for (bool killed = true; killed;) {
        const Outcome outcome =
            run_for(path, std::chrono::microseconds(time_left() ? 1 + random() % usual : 60000000));
        killed = outcome.killed;
        kills += killed;
        CHECK(TraceWriter(path, {{}, made_runs()}, TraceOptions{}, true).finished() >=
              static_cast<std::size_t>(outcome.reported));
        if (std::filesystem::exists(path)) CHECK(differs_in(path, whole) == "");
      }
      CHECK(differs_in(path, whole) == "");
      CHECK_FALSE(std::filesystem::exists(path + ".units"));
      ++rounds;
    }
    MESSAGE(kills, " kills in ", rounds, " runs");
    CHECK(kills > 0);
  }
}

}  // namespace draftlab
