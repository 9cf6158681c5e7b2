#include "core/base/files.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "core/base/error.h"
#include "core/base/process.h"
#include "tests/core/trace/trace_fixture.h"
#include "tests/scratch.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

std::size_t entries(const std::string& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("processes that write one file at once all succeed, and it is whole") {
  const TraceFolder folder("files");
  const std::string path = folder / "a";
  std::vector<pid_t> children;
  for (char letter = 'a'; letter < 'e'; ++letter) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        for (int i = 0; i < 100; ++i) replace_whole(path, std::string(20000, letter));
      } catch (const Error&) {
        ::_exit(1);
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  const std::string text = testing::contents(path);
  CHECK(text == std::string(20000, text.at(0)));
  CHECK(entries(folder.path) == 1);
}

TEST_CASE("what is written through a link leaves the link") {
  const TraceFolder folder("files");
  fs::create_directory(folder / "b");
  fs::create_symlink("b/target", folder / "link");
  write_whole(folder / "link", std::string_view("one"));
  write_whole(folder / "link", std::string_view("two"));
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(testing::contents(folder / "b/target") == "two");
}

TEST_CASE("a pipe and a device are written to, not replaced") {
  const TraceFolder folder("files");
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  write_whole(pipe, std::string_view("text"));
  char got[8] = {};
  CHECK(::read(reader, got, sizeof got) == 4);
  CHECK(std::string(got) == "text");
  ::close(reader);
  CHECK(fs::is_fifo(pipe));
  CHECK_THROWS_AS(write_whole("/dev/full", std::string_view("text")), OutputError);
  CHECK(fs::is_character_file("/dev/full"));
}

TEST_CASE("leftovers go when their writer is gone") {
  const TraceFolder folder("files");
  const std::string dead = tag_of_the_dead(), partial(kPartial);
  CHECK(tag_is_gone(dead));
  CHECK_FALSE(tag_is_gone(process_tag()));
  std::string reused = process_tag();  // The number is this process's, and the start is another.
  reused.back() = reused.back() == '1' ? '2' : '1';
  CHECK(tag_is_gone(reused));
  const std::vector<std::string> stay = {"a.h5." + process_tag() + "-0" + partial,
                                         "a.h5.elsewhere-1-2-0" + partial, "a.h5" + partial,
                                         "a.h5"},
                                 go = {"a.h5." + dead + "-0" + partial,
                                       "a.h5." + reused + "-7" + partial};
  for (const auto* names : {&stay, &go})
    for (const std::string& name : *names) std::ofstream(folder / name) << "half";
  remove_leftovers(folder.path);
  for (const std::string& name : stay) CHECK_MESSAGE(fs::exists(folder / name), name);
  for (const std::string& name : go) CHECK_MESSAGE(!fs::exists(folder / name), name);
}

}  // namespace draftlab
