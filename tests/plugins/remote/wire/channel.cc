#include "plugins/remote/wire/channel.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace draftlab::remote {
namespace {

// The largest number of kilobytes that this process has had in memory.
long most_resident() {
  rusage used;
  ::getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss;
}

TEST_CASE("an announced payload takes memory as it comes") {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  Channel here(ends[0]);
  {
    const Channel there(ends[1]);
    const std::string header =
                          "\x82\xa4kind\xa6"
                          "answer\xa6"
                          "arrays\x90",
                      some(1000, 'x');
    const auto header_size = static_cast<std::uint32_t>(header.size());
    const std::uint64_t payload_size = kMostPayload;
    std::array<char, 12> prefix;
    std::memcpy(prefix.data(), &header_size, 4);
    std::memcpy(prefix.data() + 4, &payload_size, 8);
    for (const std::string& part : {std::string(prefix.data(), 12), header, some})
      REQUIRE(::send(ends[1], part.data(), part.size(), 0) == std::ssize(part));
  }
  const long before = most_resident();
  CHECK_THROWS_AS(here.receive(1), Lost);
  CHECK(most_resident() - before < 100'000);
}

TEST_CASE("a payload of several pieces arrives whole") {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  Channel here(ends[0]), there(ends[1]);
  std::vector<std::int32_t> numbers(20'000'001);
  std::iota(numbers.begin(), numbers.end(), 7);
  std::thread sender([&] {
    Message message;
    message.header["kind"] = "answer";
    message.add<std::int32_t>("numbers", numbers);
    there.send(message, 20);
  });
  const Message received = here.receive(20);
  sender.join();
  CHECK(std::ranges::equal(received.array<std::int32_t>("numbers"), numbers));
}

}  // namespace
}  // namespace draftlab::remote
