#include "experiments/sweep/claims.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "tests/core/trace/trace_fixture.h"

namespace draftlab {
namespace {

// Changes the time at which a lease was renewed last, as if that were so many seconds ago.
void age(const std::string& file, int seconds) {
  struct stat found {};
  REQUIRE(::stat(file.c_str(), &found) == 0);
  const timespec times[2] = {{found.st_mtim.tv_sec - seconds, 0},
                             {found.st_mtim.tv_sec - seconds, 0}};
  REQUIRE(::utimensat(AT_FDCWD, file.c_str(), times, 0) == 0);
}

// Claims a cell in a process that is gone when this returns.
void claim_and_die(const std::string& folder) {
  const pid_t child = ::fork();
  if (child == 0) {
    Claims claims(folder, 300);
    ::_exit(claims.claim("cell", 1, "r") ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WEXITSTATUS(status) == 0);
}

}  // namespace

TEST_CASE("of many that claim a cell one gets it") {
  const TraceFolder folder("claims");
  int winners = 0;
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      Claims claims(folder.path, 300);
      ::_exit(claims.claim("cell", 1, "r") ? 1 : 0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    winners += WEXITSTATUS(status);
  }
  CHECK(winners == 1);
}

TEST_CASE("an attempt says what became of it") {
  const TraceFolder folder("claims");
  Claims claims(folder.path, 300);
  CHECK(claims.of("cell").empty());
  REQUIRE(claims.claim("cell", 1, "round", "17_3"));
  CHECK(claims.of("cell").at(0).state == AttemptState::running);
  CHECK(claims.of("cell").at(0).job == "17_3");
  CHECK_FALSE(claims.abandoned("cell", claims.of("cell").at(0)));
  CHECK(claims.holds());
  Attempt outcome;
  outcome.exit_status = 65, outcome.reason = "no file", outcome.seconds = 2;
  claims.finish(AttemptState::failed, outcome);
  CHECK_FALSE(claims.claim("cell", 1, "round"));
  REQUIRE(claims.claim("cell", 2, "round"));
  claims.finish(AttemptState::done, {});
  const Attempts attempts = claims.all().at("cell");
  REQUIRE(attempts.size() == 2);
  CHECK(attempts[0].exit_status == 65);
  CHECK(attempts[0].reason == "no file");
  CHECK(attempts[0].round == "round");
  CHECK(attempts[1].state == AttemptState::done);
  CHECK(failures(attempts) == 1);
}

TEST_CASE("failures count from the last pardon") {
  Attempts attempts(5);
  for (Attempt& attempt : attempts) attempt.state = AttemptState::failed;
  CHECK(failures(attempts) == 5);
  attempts[2].state = AttemptState::forgiven;
  CHECK(failures(attempts) == 2);
}

TEST_CASE("a lease ends with its process where that can be seen, else when it is not renewed") {
  const TraceFolder folder("claims");
  claim_and_die(folder.path);
  Claims claims(folder.path, 300);
  Attempt dead = claims.of("cell").at(0);
  CHECK(claims.abandoned("cell", dead));
  CHECK(is_gone(dead.owner));
  CHECK_FALSE(is_gone(process_identity()));
  // The number is this process's, but its start is another's.
  std::string reused = process_identity();
  reused.back() = reused.back() == '1' ? '2' : '1';
  CHECK(is_gone(reused));
  dead.owner = "elsewhere/1/2/3/4";  // Nobody here can tell whether it lives.
  CHECK_FALSE(claims.abandoned("cell", dead));
  age(folder / "cell.1", 200);
  CHECK_FALSE(claims.abandoned("cell", dead));
  age(folder / "cell.1", 200);
  CHECK(claims.abandoned("cell", dead));
}

TEST_CASE("a lease is renewed while its process lives") {
  const TraceFolder folder("claims");
  Claims claims(folder.path, 0.4);
  REQUIRE(claims.claim("cell", 1, "r"));
  Attempt attempt = claims.of("cell").at(0);
  attempt.owner = "elsewhere/1/2/3/4";
  for (int i = 0; i < 10; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    CHECK_FALSE(claims.abandoned("cell", attempt));
  }
}

TEST_CASE("who slept longer than its lease knows that it was replaced") {
  const TraceFolder folder("claims");
  Claims sleeper(folder.path, 300), other(folder.path, 300);
  REQUIRE(sleeper.claim("cell", 1, "r"));
  CHECK(sleeper.holds());
  REQUIRE(other.claim("cell", 2, "r"));
  CHECK_FALSE(sleeper.holds());
  CHECK(other.holds());
}

TEST_CASE("a claim that was not written yet is a running one") {
  const TraceFolder folder("claims");
  std::ofstream(folder / "cell.1");
  Claims claims(folder.path, 300);
  CHECK(claims.of("cell").at(0).state == AttemptState::running);
  CHECK_FALSE(claims.abandoned("cell", claims.of("cell").at(0)));
  CHECK_FALSE(claims.claim("cell", 1, "r"));
}

TEST_CASE("a lease that is renewed in the future has ended, too") {
  const TraceFolder folder("claims");
  std::ofstream(folder / "cell.1");
  Claims claims(folder.path, 300);
  age(folder / "cell.1", -200);
  CHECK_FALSE(claims.abandoned("cell", claims.of("cell").at(0)));
  age(folder / "cell.1", -20000);
  CHECK(claims.abandoned("cell", claims.of("cell").at(0)));
}

TEST_CASE("a damaged record of an attempt stops nothing: its cell may be claimed at once") {
  const TraceFolder folder("claims");
  std::ofstream(folder / "cell.1") << R"({"state": 7, "seconds": "long"})";
  std::ofstream(folder / "other.1") << R"({"state": "done", "seconds": 1})";
  Claims claims(folder.path, 300);
  CHECK(claims.all().at("other").at(0).state == AttemptState::done);
  std::ofstream(folder / "garbage.1") << "\x01\x02 no record";
  std::ofstream(folder / "line.1") << "{\"state\": \"runn\n";
  std::filesystem::create_directory(folder / "folder.1");
  for (const char* cell : {"cell", "garbage", "line", "folder"}) {
    CAPTURE(cell);
    CHECK(claims.all().at(cell).at(0).state == AttemptState::interrupted);
    CHECK(claims.of(cell).at(0).state == AttemptState::interrupted);
  }
  // One that is cut short is being written.
  std::ofstream(folder / "begun.1") << "{\"state\": \"runn";
  CHECK(claims.of("begun").at(0).state == AttemptState::running);
  age(folder / "begun.1", 400);
  CHECK(claims.abandoned("begun", claims.of("begun").at(0)));
}

TEST_CASE("the last line of a log") {
  const TraceFolder folder("claims");
  CHECK(last_line(folder / "none") == "");
  std::ofstream(folder / "log") << std::string(9000, 'x') << "\none\ntwo\n\n";
  CHECK(last_line(folder / "log") == "two");
}

}  // namespace draftlab
