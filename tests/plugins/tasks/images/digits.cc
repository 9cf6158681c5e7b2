#include "plugins/tasks/images/digits.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/base/error.h"

namespace draftlab {

TEST_CASE("patches: tokens in raster order, values within them too, and back") {
  Eigen::MatrixXd pixels(4, 6);
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 6; ++c) pixels(r, c) = 10 * r + c;
  const Eigen::MatrixXd tokens = tokens_of(pixels, 2);
  REQUIRE(tokens.rows() == 6);
  REQUIRE(tokens.cols() == 4);
  CHECK(tokens.row(1) == Eigen::RowVector4d(2, 3, 12, 13));
  CHECK(tokens.row(3) == Eigen::RowVector4d(20, 21, 30, 31));
  CHECK(pixels_of(tokens, 4, 6, 2) == pixels);
  CHECK_THROWS_AS(tokens_of(pixels, 4), Fault);
  CHECK_THROWS_AS(pixels_of(tokens, 6, 6, 2), Fault);
}

TEST_CASE(
    "digits: an image depends on seed, index and split alone; its class is its index mod 10") {
  const LabelledImage image = make_digit(1, 47, ProblemSplit::test);
  CHECK(image.label == 7);
  CHECK(image.pixels == make_digit(1, 47, ProblemSplit::test).pixels);
  CHECK(image.pixels != make_digit(1, 47, ProblemSplit::train).pixels);
  CHECK(image.pixels != make_digit(2, 47, ProblemSplit::test).pixels);
  CHECK(image.pixels != make_digit(1, 57, ProblemSplit::test).pixels);
}

TEST_CASE(
    "digits: zero mean and unit variance; every class has the ink of its segments; noise deviates "
    "by 0.1 of an intensity") {
  const int kImages = 400;
  Eigen::ArrayXd ink = Eigen::ArrayXd::Zero(10);
  double sum = 0, squares = 0, corner = 0;
  for (int i = 0; i < kImages; ++i) {
    const LabelledImage image = make_digit(3, i, ProblemSplit::train);
    sum += image.pixels.sum();
    squares += image.pixels.squaredNorm();
    ink[image.label] += (kDigitScale.mean + kDigitScale.deviation * image.pixels.array()).mean();
    corner +=
        std::pow(kDigitScale.intensity(image.pixels(15, 15)), 2);  // Slanted digits never reach it.
  }
  CHECK(sum / kImages / 256 == doctest::Approx(0).scale(1).epsilon(0.05));
  CHECK(squares / kImages / 256 == doctest::Approx(1).epsilon(0.05));
  // Four standard errors.
  CHECK(std::sqrt(corner / kImages) == doctest::Approx(0.1).epsilon(0.15));
  for (const int more : {0, 2, 3, 4, 5, 6, 7, 9}) CHECK(ink[more] > ink[1]);
  for (const int less : {0, 1, 2, 3, 4, 5, 6, 7, 9}) CHECK(ink[less] < ink[8]);
}

}  // namespace draftlab
