#include "plugins/remote/wire/shared_memory.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <vector>

#include "plugins/remote/wire/channel.h"

namespace draftlab::remote {
namespace {

TEST_CASE("lent memory can be written to, and nobody can change its size") {
  const SharedMemory memory(3, 4096);
  CHECK(memory.slot() == 3);
  CHECK(memory.bytes() == 4096);
  CHECK((::fcntl(memory.descriptor(), F_GET_SEALS) & (F_SEAL_SHRINK | F_SEAL_GROW)) ==
        (F_SEAL_SHRINK | F_SEAL_GROW));
  CHECK(::ftruncate(memory.descriptor(), 0) == -1);
  CHECK(::ftruncate(memory.descriptor(), 8192) == -1);
  CHECK(::fcntl(memory.descriptor(), F_ADD_SEALS, F_SEAL_WRITE) == -1);
  const char written = 'x';
  CHECK(::pwrite(memory.descriptor(), &written, 1, 4095) == 1);
  CHECK(static_cast<char>(memory.at()[4095]) == 'x');
  struct stat found;
  REQUIRE(::fstat(memory.descriptor(), &found) == 0);
  CHECK(found.st_nlink == 0);  // It has no name by which another process could open it.
}

TEST_CASE("a slot holds one piece of memory, which is used again once nobody reads it") {
  SharedPool pool;
  auto first = pool.take(1000), second = pool.take(1000);
  CHECK(first.fresh);
  CHECK(first.memory->slot() == 0);
  CHECK(second.fresh);
  CHECK(second.memory->slot() == 1);
  first = {};
  auto again = pool.take(1000);
  CHECK_FALSE(again.fresh);
  CHECK(again.memory->slot() == 0);
  again = {};
  // What is too small makes room for a larger piece, of which the other process is told.
  const auto larger = pool.take(1 << 20);
  CHECK(larger.fresh);
  CHECK(larger.memory->slot() == 0);
  CHECK(larger.memory->bytes() >= 1 << 20);
}

TEST_CASE("no more memory is lent than there are slots") {
  SharedPool pool;
  std::vector<SharedPool::Taken> held;
  for (int i = 0; i < kMostShared; ++i) held.push_back(pool.take(1));
  CHECK(held.back().memory->slot() == kMostShared - 1);
  CHECK(pool.take(1).memory == nullptr);
  held.pop_back();
  CHECK(pool.take(1).memory != nullptr);
}

TEST_CASE("a descriptor crosses a Unix socket beside one byte") {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  Channel here(ends[0]);
  const Channel there(ends[1]);
  CHECK(here.is_local());
  const SharedMemory memory(0, 4096);
  here.send_descriptor(memory.descriptor(), 1);
  char byte = 1;
  iovec piece{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr in{};
  in.msg_iov = &piece, in.msg_iovlen = 1;
  in.msg_control = control.data(), in.msg_controllen = control.size();
  REQUIRE(::recvmsg(ends[1], &in, MSG_DONTWAIT) == 1);
  const cmsghdr* const passed = CMSG_FIRSTHDR(&in);
  REQUIRE(passed != nullptr);
  CHECK(passed->cmsg_type == SCM_RIGHTS);
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(passed), sizeof descriptor);
  struct stat sent, received;
  REQUIRE(::fstat(memory.descriptor(), &sent) == 0);
  REQUIRE(::fstat(descriptor, &received) == 0);
  CHECK(sent.st_ino == received.st_ino);
  ::close(descriptor);
}

TEST_CASE("a connection over TCP carries no descriptors") {
  const Channel channel(::socket(AF_INET, SOCK_STREAM, 0));
  CHECK_FALSE(channel.is_local());
}

}  // namespace
}  // namespace draftlab::remote
