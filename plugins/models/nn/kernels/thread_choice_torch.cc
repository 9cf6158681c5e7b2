#include "plugins/models/nn/kernels/thread_choice_torch.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <bit>

#include "plugins/models/nn/kernels/share_work_torch.h"

namespace draftlab {
namespace {

// What all threads take of the time of one, at most.
constexpr double kMostShared = 0.95;
// The forwards of a turn, and how many of a number of rows are enough by one thread and by all.
constexpr std::int64_t kAtOnce = 16;
constexpr std::size_t kEnough = 7;

std::atomic<std::int64_t> choices = 0, choices_of_all = 0;
std::atomic<int> most_threads = 0;
std::atomic<bool> forwards_choose = true;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::size_t ThreadChoice::place(std::int64_t rows) {
  return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(rows))) - 1;
}

bool ThreadChoice::shares(std::int64_t rows) const {
  const Timed& timed = timed_[place(rows)];
  return timed.chosen ? timed.shared : forwards_ / kAtOnce % 2 == 1;
}

void ThreadChoice::took(std::int64_t rows, double seconds) {
  const bool shared = shares(rows);
  Timed& timed = timed_[place(rows)];
  const bool first = forwards_++ % kAtOnce == 0;
  // The first of a turn finds threads asleep, or nothing in the caches.
  if (timed.chosen || first) return;
  timed.seconds[shared].push_back(seconds);
  if (std::min(timed.seconds[0].size(), timed.seconds[1].size()) < kEnough) return;
  timed.chosen = true;
  timed.shared = median(timed.seconds[1]) <= kMostShared * median(timed.seconds[0]);
  ++choices;
  choices_of_all += timed.shared;
}

TimedForward::TimedForward(ThreadChoice& choice, std::int64_t rows)
    : choice_(choice), rows_(rows), threads_(forwards_choose ? at::get_num_threads() : 1) {
  if (threads_ == 1 || rows_ < 1) return;
  most_threads = threads_;
  computes_alone = !choice_.shares(rows_);
  began_ = std::chrono::steady_clock::now();
}

TimedForward::~TimedForward() {
  if (threads_ == 1 || rows_ < 1) return;
  choice_.took(rows_,
               std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count());
  computes_alone = false;
}

void let_forwards_choose(bool choose) { forwards_choose = choose; }

std::string thread_choices_in_words() {
  if (choices == 0) return "";
  return std::to_string(most_threads) + " threads for " + std::to_string(choices_of_all) + " of " +
         std::to_string(choices) + " numbers of rows";
}

}  // namespace draftlab
