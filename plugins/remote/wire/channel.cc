#include "plugins/remote/wire/channel.h"

#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "core/base/stop_request.h"

namespace draftlab::remote {
namespace {

constexpr std::size_t kBuffer = 64 << 10;
// A message begins with the size of its header (u32) and that of its arrays (u64).
constexpr std::size_t kPrefix = 12;
// The bytes of a payload that are made room for before any of them has come.
constexpr std::uint64_t kFirstRoom = 16 << 20;
// A part in Python decides in less time than this, and being woken takes as long. So a short wait
// is spent awake, and others who have work on this core are let in meanwhile.
constexpr std::chrono::microseconds kAwake(50);
// So late comes back who let others in on a core that is busy. Who sleeps is woken before them, so
// that for a while all waiting is done asleep.
constexpr std::chrono::microseconds kLate(500);
constexpr std::chrono::milliseconds kAsleep(100);
// While something is waited for, it is looked so often whether a stop was requested.
constexpr long kLookMs = 100;

std::string reason() { return std::strerror(errno); }

}  // namespace

Channel::Channel(int descriptor) : descriptor_(descriptor), buffer_(kBuffer) {}

Channel::~Channel() { ::close(descriptor_); }

Channel::Clock::time_point Channel::after(double seconds) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

bool Channel::is_local() const {
  int domain = 0;
  socklen_t size = sizeof domain;
  return ::getsockopt(descriptor_, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

bool Channel::ended() const {
  if (begin_ < end_) return false;
  std::byte one;
  const ssize_t got = ::recv(descriptor_, &one, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

void Channel::wait(short events, Clock::time_point deadline) const {
  while (true) {
    check_stop();
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waiting{descriptor_, events, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::clamp<long>(left + 1, 0, kLookMs)));
    if (ready > 0) return;
    if (ready == 0 && left <= 0) throw TimedOut("no answer in time");
    if (ready < 0 && errno != EINTR) throw Lost(reason());
  }
}

void Channel::send(const Message& message, double seconds) {
  const std::vector<std::uint8_t> header = packed(message.header);
  if (header.size() > most_header_ || message.payload.size() > most_payload_)
    throw MalformedMessage("a message of {} bytes, more than the other side accepts",
                           header.size() + message.payload.size());
  std::array<std::byte, kPrefix> prefix;
  const auto header_size = static_cast<std::uint32_t>(header.size());
  const auto payload_size = static_cast<std::uint64_t>(message.payload.size());
  std::memcpy(prefix.data(), &header_size, sizeof header_size);
  std::memcpy(prefix.data() + sizeof header_size, &payload_size, sizeof payload_size);

  const auto deadline = after(seconds);
  std::array<iovec, 3> pieces = {
      iovec{prefix.data(), prefix.size()},
      iovec{const_cast<std::uint8_t*>(header.data()), header.size()},
      iovec{const_cast<std::byte*>(message.payload.data()), message.payload.size()}};
  for (std::size_t first = 0; first < pieces.size();) {
    msghdr out{};
    out.msg_iov = pieces.data() + first;
    out.msg_iovlen = pieces.size() - first;
    ssize_t sent = ::sendmsg(descriptor_, &out, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (errno == EAGAIN)
        wait(POLLOUT, deadline);
      else if (errno != EINTR)
        throw Lost(reason());
      continue;
    }
    while (first < pieces.size() && static_cast<std::size_t>(sent) >= pieces[first].iov_len)
      sent -= static_cast<ssize_t>(pieces[first++].iov_len);
    if (first == pieces.size()) break;
    pieces[first].iov_base = static_cast<char*>(pieces[first].iov_base) + sent;
    pieces[first].iov_len -= static_cast<std::size_t>(sent);
  }
}

void Channel::send_descriptor(int descriptor, double seconds) {
  const auto deadline = after(seconds);
  char byte = 0;
  iovec piece{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof descriptor)> control{};
  msghdr out{};
  out.msg_iov = &piece, out.msg_iovlen = 1;
  out.msg_control = control.data(), out.msg_controllen = control.size();
  cmsghdr* const passed = CMSG_FIRSTHDR(&out);
  passed->cmsg_level = SOL_SOCKET, passed->cmsg_type = SCM_RIGHTS;
  passed->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(passed), &descriptor, sizeof descriptor);
  while (::sendmsg(descriptor_, &out, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    if (errno == EAGAIN)
      wait(POLLOUT, deadline);
    else if (errno != EINTR)
      throw Lost(reason());
  }
}

void Channel::fill(std::byte* to, std::size_t count, Clock::time_point deadline) {
  std::optional<Clock::time_point> asleep;
  while (count > 0) {
    if (begin_ < end_) {
      const std::size_t taken = std::min(count, end_ - begin_);
      std::memcpy(to, buffer_.data() + begin_, taken);
      begin_ += taken, to += taken, count -= taken;
      continue;
    }
    const bool direct = count >= kBuffer;  // A large array is not copied twice.
    std::byte* const into = direct ? to : buffer_.data();
    const ssize_t got = ::recv(descriptor_, into, direct ? count : kBuffer, MSG_DONTWAIT);
    if (got == 0) throw Lost("the other end closed the connection");
    if (got < 0) {
      if (errno != EAGAIN && errno != EINTR) throw Lost(reason());
      const auto now = Clock::now();
      if (!asleep) asleep = now < asleep_until_ ? now : now + kAwake;
      if (now < *asleep) {
        ::sched_yield();
        const auto back = Clock::now();
        if (back > *asleep + kLate) asleep_until_ = back + kAsleep;
      } else {
        wait(POLLIN, deadline);
      }
      continue;
    }
    if (direct)
      to += got, count -= static_cast<std::size_t>(got);
    else
      begin_ = 0, end_ = static_cast<std::size_t>(got);
  }
}

Message Channel::receive(double seconds) {
  const auto deadline = after(seconds);
  std::array<std::byte, kPrefix> prefix;
  fill(prefix.data(), prefix.size(), deadline);
  std::uint32_t header_size;
  std::uint64_t payload_size;
  std::memcpy(&header_size, prefix.data(), sizeof header_size);
  std::memcpy(&payload_size, prefix.data() + sizeof header_size, sizeof payload_size);
  if (header_size > kMostHeader || payload_size > kMostPayload)
    throw MalformedMessage("a message of {} bytes, more than this side accepts",
                           header_size + payload_size);
  std::vector<std::uint8_t> header(header_size);
  fill(reinterpret_cast<std::byte*>(header.data()), header_size, deadline);
  Message message;
  message.header = unpacked(header);
  // Memory is taken as the payload comes: announcing a gigabyte costs this side none.
  std::uint64_t room = kFirstRoom;
  for (std::uint64_t come = 0; come < payload_size; room *= 2) {
    message.payload.resize(std::min(payload_size, come + room));
    fill(message.payload.data() + come, message.payload.size() - come, deadline);
    come = message.payload.size();
  }
  return message;
}

}  // namespace draftlab::remote
