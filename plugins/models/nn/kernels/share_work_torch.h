// Shares work among all threads, a piece at a time to whichever is free.
#pragma once

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace draftlab {

// Whether this thread computes without the others for now (TimedForward).
inline thread_local bool computes_alone = false;

// Calls work(begin, end) for parts of [0, count), one a thread, that are at least `grain` long.
template <class Work>
void share_evenly(std::int64_t count, std::int64_t grain, const Work& work) {
  if (computes_alone && count > 0)
    work(0, count);
  else
    at::parallel_for(0, count, grain, work);
}

// Calls work(begin, end) for pieces of [0, count), `step` long. at::parallel_for gives each thread
// its part beforehand and waits for the slowest. That is right for short work, whose data then stay
// with their thread; of long work a tenth of the time went into waiting where neighbours share a
// processor.
template <class Work>
void share_work(std::int64_t count, std::int64_t step, const Work& work) {
  if (computes_alone) step = std::max<std::int64_t>(count, 1);
  std::atomic<std::int64_t> next = 0;
  at::parallel_for(0, std::min<std::int64_t>(at::get_num_threads(), (count + step - 1) / step), 1,
                   [&](std::int64_t, std::int64_t) {
                     for (std::int64_t from; (from = next.fetch_add(step)) < count;)
                       work(from, std::min(from + step, count));
                   });
}

}  // namespace draftlab
