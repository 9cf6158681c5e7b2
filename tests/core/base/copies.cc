// Copies of a process share its work, and what goes wrong in one is told by the other.
#include "core/base/copies.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <map>
#include <set>

#include "core/base/cores.h"
#include "core/base/error.h"
#include "core/base/isolation.h"
#include "core/base/stop_request.h"

namespace draftlab {

TEST_CASE("each number is taken once, and all that is said is heard in order") {
  const std::string before = "seen before the copies were made";
  std::map<std::string, std::vector<std::string>> said;
  const std::string end(1 << 17, '\0');  // It is longer than a pipe, and no text.
  in_copies(
      3,
      [&](Copy& copy) {
        const std::string name = std::to_string(::getpid()) + " ";
        for (std::int64_t number; (number = copy.next()) < 50;)
          copy.say(name + std::to_string(number));
        copy.say(name + before + end);
      },
      [&](const std::string& text) {
        const std::size_t blank = text.find(' ');
        said[text.substr(0, blank)].push_back(text.substr(blank + 1));
      });
  CHECK(said.size() == 3);
  std::set<int> numbers;
  for (auto& [process, texts] : said) {
    REQUIRE_FALSE(texts.empty());
    CHECK(texts.back() == before + end);
    texts.pop_back();
    int last = -1;
    for (const std::string& text : texts) {
      CHECK(std::stoi(text) > last);
      last = std::stoi(text);
      CHECK(numbers.insert(last).second);
    }
  }
  CHECK(numbers.size() == 50);
}

TEST_CASE("what copies compute is heard in the order of its numbers, however long each takes") {
  const int here = ::getpid();
  for (const int copies : {1, 2, 5}) {
    std::vector<std::string> heard;
    in_order(
        copies, 9,
        [&](std::int64_t number) {
          ::usleep(static_cast<useconds_t>((9 - number) % 4) * 3000);
          return std::to_string(number) + (::getpid() == here ? " here" : " elsewhere");
        },
        [&](const std::string& text) { heard.push_back(text); });
    REQUIRE(heard.size() == 9);
    for (int number = 0; number < 9; ++number)
      CHECK(heard[static_cast<std::size_t>(number)] ==
            std::to_string(number) + (copies == 1 ? " here" : " elsewhere"));
  }
  CHECK_THROWS_WITH_AS(in_order(
                           2, 4,
                           [](std::int64_t number) -> std::string {
                             if (number == 3) throw DataError("'{}' is damaged", "b.bin");
                             return "";
                           },
                           [](const std::string&) {}),
                       "'b.bin' is damaged", Error);
}

TEST_CASE("an error of a copy has its sentence and its status here, and ends the others") {
  int heard = 0;
  try {
    in_copies(
        2,
        [](Copy& copy) {
          if (copy.next() == 0) throw DataError("'{}' is damaged", "a.bin");
          for (;;) {
            check_stop();
            ::usleep(1000);
          }
        },
        [&](const std::string&) { ++heard; });
    FAIL("no error was thrown");
  } catch (const Error& error) {
    CHECK(std::string(error.what()) == "'a.bin' is damaged");
    CHECK(error.status() == 65);
  }
  CHECK(heard == 0);
  CHECK_THROWS_WITH_AS(
      in_copies(
          1, [](Copy&) { throw std::logic_error("odd"); }, [](const std::string&) {}),
      "odd", std::runtime_error);
}

TEST_CASE("a killed copy is an error, and a crash of one is a crash of the process") {
  CHECK_THROWS_AS(in_copies(
                      2,
                      [](Copy& copy) {
                        if (copy.next() == 0) ::kill(::getpid(), SIGKILL);
                      },
                      [](const std::string&) {}),
                  Error);
  const auto crashes = [] {
    in_copies(
        1, [](Copy&) { ::raise(SIGILL); }, [](const std::string&) {});
  };
  CHECK_FALSE(survives(crashes, 1u << 30, 10));
}

TEST_CASE("a quota of processors is rounded up, and none is no quota") {
  CHECK(processors_of_quota("200000 100000") == 2);
  CHECK(processors_of_quota("150000 100000") == 2);
  CHECK(processors_of_quota("5000 100000") == 1);
  for (const char* const none : {"max 100000", "", "-1 100000", "100000"})
    CHECK_FALSE(processors_of_quota(none).has_value());
  CHECK(usable_threads() >= 1);
}

}  // namespace draftlab
