// Whether a forward is computed by one thread or by all is chosen by what forwards took. Waking
// another thread takes as long as a small forward, and on a busy machine the one that was woken
// waits for its turn; where weights come from memory, it brings bandwidth. No number depends on it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace draftlab {

// The choice of one network, for forwards of 1, 2 to 3, 4 to 7, ... rows apart. Its first forwards
// are computed by one thread, the next by all, and so on in turn, sixteen at a time: threads that
// worked a moment ago are woken sooner. Once a number of rows was timed often enough, all threads
// compute it where their median took at least 5 % less.
class ThreadChoice {
 public:
  // Returns whether the next forward of so many rows is computed by all threads.
  bool shares(std::int64_t rows) const;
  // Says how long a forward took that was computed as shares() said.
  void took(std::int64_t rows, double seconds);

 private:
  struct Timed {
    std::array<std::vector<double>, 2> seconds = {};  // By one thread, and by all.
    bool chosen = false, shared = false;
  };
  static std::size_t place(std::int64_t rows);
  std::array<Timed, 64> timed_;
  std::int64_t forwards_ = 0;
};

// Computes what stands in its scope by as many threads as the choice says, and times it.
class TimedForward {
 public:
  TimedForward(ThreadChoice& choice, std::int64_t rows);
  ~TimedForward();
  TimedForward(const TimedForward&) = delete;
  TimedForward& operator=(const TimedForward&) = delete;

 private:
  ThreadChoice& choice_;
  std::int64_t rows_;
  int threads_;
  std::chrono::steady_clock::time_point began_;
};

// Whether forwards choose; otherwise each is computed by all threads, and not timed.
void let_forwards_choose(bool choose);

// What was chosen in this process, for the record of a run, such as "2 threads in 12 of 20
// choices":
// "" where nothing was.
std::string thread_choices_in_words();

}  // namespace draftlab
