// All threads compute a forward where that was faster, and change no bit of it.
#include "plugins/models/nn/kernels/thread_choice_torch.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "plugins/models/nn/kernels/machine_torch.h"
#include "plugins/models/nn/kernels/row_linear_torch.h"
#include "plugins/models/nn/kernels/share_work_torch.h"

namespace draftlab {
namespace {

// Tells the choice of so many forwards, of which one thread takes a second and all take `shared`;
// returns how many were computed by all.
int forwards(ThreadChoice& choice, std::int64_t rows, int count, double shared) {
  int by_all = 0;
  for (int i = 0; i < count; ++i) {
    const bool all = choice.shares(rows);
    by_all += all;
    choice.took(rows, all ? shared : 1);
  }
  return by_all;
}

}  // namespace

DOCTEST_TEST_CASE("all threads compute where their forwards took 5 % less") {
  for (const auto& [seconds, chosen] : {std::pair{0.94, true}, std::pair{0.96, false}}) {
    ThreadChoice choice;
    DOCTEST_CHECK(forwards(choice, 1, 16, seconds) == 0);  // One thread first, then all.
    DOCTEST_CHECK(forwards(choice, 1, 8, seconds) == 8);
    DOCTEST_CHECK(forwards(choice, 1, 40, 5) == (chosen ? 40 : 0));
  }
}

DOCTEST_TEST_CASE("forwards of more rows are chosen for apart") {
  ThreadChoice choice;
  for (int i = 0; i < 16; ++i) forwards(choice, 1, 1, 2), forwards(choice, 9, 1, 0.5);
  DOCTEST_CHECK_FALSE(choice.shares(1));
  DOCTEST_CHECK(choice.shares(8));
  DOCTEST_CHECK(choice.shares(15));
  DOCTEST_CHECK_FALSE(choice.shares(16));  // It was not timed yet, and it is one thread's turn.
}

DOCTEST_TEST_CASE("slow forwards that are few decide nothing") {
  ThreadChoice choice;
  forwards(choice, 1, 16, 0.5);
  forwards(choice, 1, 4, 100);  // Another process had the processor.
  forwards(choice, 1, 6, 0.5);
  DOCTEST_CHECK(choice.shares(1));
}

DOCTEST_TEST_CASE("a forward leaves the threads as they were, and no bit depends on them") {
  const at::NoGradGuard no_grad;
  const at::Tensor weight = at::randn({4096, 512}), x = at::randn({3, 512});
  const RowLinear linear(weight, {}, Precision::f32);
  at::Tensor first;
  ThreadChoice choice;
  use_threads(2);
  for (int i = 0; i < 40; ++i) {
    at::Tensor y = at::zeros({3, 4096});
    {
      const bool shares = choice.shares(3);
      const TimedForward timed(choice, 3);
      DOCTEST_CHECK(computes_alone == !shares);
      linear.apply(x.data_ptr<float>(), 3, y.data_ptr<float>());
    }
    DOCTEST_CHECK_FALSE(computes_alone);
    if (i == 0) first = y;
    DOCTEST_CHECK(at::equal(first, y));
  }
  ThreadChoice other;
  use_all_threads(2);
  {
    const TimedForward timed(other, 3);
    DOCTEST_CHECK_FALSE(computes_alone);  // One thread would have been first.
  }
  DOCTEST_CHECK(thread_choices_in_words().find("2 threads for ") == 0);
  use_threads(1);
}

}  // namespace draftlab
