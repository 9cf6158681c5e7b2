// One end of a connection sends and receives whole messages, within limits and deadlines.
#pragma once

#include <chrono>
#include <stdexcept>

#include "plugins/remote/wire/message.h"

namespace draftlab::remote {

// Says that the other end is gone.
struct Lost : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// Says that the other end did not answer in time.
struct TimedOut : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Channel {
 public:
  // Owns the descriptor.
  explicit Channel(int descriptor);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Both throw TimedOut after so many seconds, and Stopped where a stop is requested meanwhile; the
  // connection is then of no more use.
  void send(const Message& message, double seconds);
  // Sends one byte and, beside it, a copy of a descriptor, which the other end must be waiting for.
  void send_descriptor(int descriptor, double seconds);
  // Says whether the other end is a process on this machine, reached by a Unix socket. Only such a
  // connection carries descriptors.
  bool is_local() const;
  // Receives a message. One that is longer than this side accepts is refused before it takes
  // memory.
  Message receive(double seconds);
  // Says whether the other end has closed the connection and nothing is left to read.
  bool ended() const;
  // Sets the limits that the other end announced: no message may have a longer header or payload.
  void limit(std::uint64_t header, std::uint64_t payload) {
    most_header_ = header, most_payload_ = payload;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static Clock::time_point after(double seconds);
  void wait(short events, Clock::time_point deadline) const;
  void fill(std::byte* to, std::size_t count, Clock::time_point deadline);

  int descriptor_;
  // Bytes that were received and not yet read stand in [begin_, end_) of the buffer.
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  Clock::time_point asleep_until_{};  // Until then nothing is waited for awake.
  std::uint64_t most_header_ = kMostHeader, most_payload_ = kMostPayload;
};

}  // namespace draftlab::remote
