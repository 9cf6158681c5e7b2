// One end of a connection: whole messages, with limits and deadlines.
#pragma once

#include <chrono>
#include <stdexcept>

#include "plugins/remote/message.h"

namespace draftlab::remote {

// The other end is gone.
struct Lost : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// It did not answer in time.
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

  void send(const Message& message, double seconds);
  // Refuses what is longer than announced before it takes memory.
  Message receive(double seconds);
  // Whether the other end has closed it, and nothing is left to read.
  bool ended() const;
  // What the other end said it accepts.
  void limit(std::uint64_t header, std::uint64_t payload) {
    most_header_ = header, most_payload_ = payload;
  }

 private:
  using Clock = std::chrono::steady_clock;
  void wait(short events, Clock::time_point deadline) const;
  void fill(std::byte* to, std::size_t count, Clock::time_point deadline);

  int descriptor_;
  std::vector<std::byte> buffer_;  // bytes that came with those before them
  std::size_t begin_ = 0, end_ = 0;
  Clock::time_point asleep_until_{};  // Until then nothing is waited for awake.
  std::uint64_t most_header_ = kMostHeader, most_payload_ = kMostPayload;
};

}  // namespace draftlab::remote
