#include "core/base/isolation.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <thread>

namespace draftlab {

TEST_CASE("a child's answer comes back, however long it is, and its death is noticed") {
  const std::string much(1 << 20, 'x');
  CHECK(answer_of_child([&] { return much; }, 1 << 28, 20) == much);
  CHECK_FALSE(
      answer_of_child([]() -> std::string { throw std::runtime_error("no"); }, 1 << 28, 20));
  CHECK_FALSE(answer_of_child(
      []() -> std::string {
        ::raise(SIGSEGV);
        return "never";
      },
      1 << 28, 20));
}

TEST_CASE("a child works while this process goes on, and is killed where nobody waits for it") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const auto before = std::chrono::steady_clock::now();
  {
    // It waits for what is written once it is there.
    ChildWork waiting([&] {
      char got = 0;
      const bool heard = ::read(ends[0], &got, 1) == 1;
      return heard ? std::string("heard ") + got : "heard nothing";
    });
    ChildWork forgotten([] {
      std::this_thread::sleep_for(std::chrono::seconds(100));
      return std::string();
    });
    CHECK(::write(ends[1], "!", 1) == 1);
    CHECK(waiting.answer() == "heard !");
  }
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(50));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("a child of a child is killed with it") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  {
    ChildWork outer([&] {
      return answer_of_child(
                 [&]() -> std::string {
                   if (::write(ends[1], "!", 1) == 1)
                     std::this_thread::sleep_for(std::chrono::seconds(100));
                   return {};
                 },
                 1 << 28, 200)
          .value_or("");
    });
    char began = 0;
    CHECK(::read(ends[0], &began, 1) == 1);
  }
  // Nobody holds the pipe's other end once both are gone.
  ::close(ends[1]);
  pollfd end{ends[0], POLLIN, 0};
  CHECK(::poll(&end, 1, 50000) == 1);
  ::close(ends[0]);
}

}  // namespace draftlab
