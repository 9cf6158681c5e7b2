// The model any-subset in tensor operations, as on a GPU: its answers are those of our kernels.
#include <iostream>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "tests/plugins/models/xlnet/small_any_subset_torch.h"

namespace draftlab {

DOCTEST_TEST_CASE("any-subset: tensor operations answer what kernels do, whatever is accepted") {
  const small_any_subset::Checkpoint checkpoint;
  for (const auto& [dtype, most] :
       {std::pair(Precision::f32, small_any_subset::most_apart(40)),
        std::pair(Precision::bf16, 2 * testing::bf16_rounding(3, 40))}) {
    DOCTEST_INFO(word(dtype));
    const auto kernels = checkpoint.model(true, dtype),
               tensors = checkpoint.model(true, dtype, Device::cpu_tensors);
    const double largest = small_any_subset::walked_difference(
        *tensors, *kernels, [](const Sequence& sequence, const Sequence& reference) {
          for (const Kind kind : {Kind::draft, Kind::verify}) {
            DOCTEST_CHECK(sequence.counts()[kind].rows == reference.counts()[kind].rows);
            DOCTEST_CHECK(sequence.counts()[kind].positions == reference.counts()[kind].positions);
          }
        });
    std::cout << "any-subset in " << word(dtype) << ": tensor operations differ from kernels by at "
              << "most " << largest << " of " << most << "\n";
    DOCTEST_CHECK(largest < most);
    DOCTEST_CHECK(tensors->facts().rounding == kernels->facts().rounding);
    DOCTEST_CHECK(kernels->rows_are_independent());
    DOCTEST_CHECK(!tensors->rows_are_independent());
  }
}

DOCTEST_TEST_CASE("any-subset: tensor operations answer sequences of a batch as each alone") {
  const small_any_subset::Checkpoint checkpoint;
  const auto model = checkpoint.model(true, Precision::f32, Device::cpu_tensors);
  const std::vector<std::pair<std::int32_t, Token>> first{{0, 1}, {5, 9}}, second{{2, 30}};
  Canvas a(8, first), b(75, second);
  b.commit(0, 12);
  const auto one = model->open(a), alone_one = model->open(a);
  // The relative positions of the longer canvas come to those of the shorter one.
  const auto other = model->open(b), alone_other = model->open(b);
  const Question asked = small_any_subset::draft(a, 3),
                 other_asked = small_any_subset::draft(b, 60);
  Answer answers[2];
  Pending batch[2] = {{one.get(), &asked, &answers[0]}, {other.get(), &other_asked, &answers[1]}};
  model->answer(batch);
  const auto apart = [&](const Question& question, const Answer& answer, Sequence& alone) {
    return small_any_subset::difference(question, answer,
                                        small_any_subset::ask(*model, alone, question));
  };
  DOCTEST_CHECK(apart(asked, answers[0], *alone_one) < small_any_subset::most_apart(75));
  DOCTEST_CHECK(apart(other_asked, answers[1], *alone_other) < small_any_subset::most_apart(75));
}

DOCTEST_TEST_CASE("any-subset: what tensor operations do not compute is refused") {
  const small_any_subset::Checkpoint checkpoint;
  DOCTEST_CHECK_THROWS_WITH_AS(
      checkpoint.model(false, Precision::f32, Device::cpu_tensors),
      "model.any-subset.incremental = false is computed on the CPU: run.device must be cpu",
      ConfigError);
  DOCTEST_CHECK_THROWS_AS(checkpoint.model(true, Precision::q8, Device::cpu_tensors), ConfigError);
}

}  // namespace draftlab
