#include "core/metrics/image_metrics.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/prob/chance.h"

namespace draftlab {
namespace {

using Addends = std::vector<double> (*)(std::span<const double>);
std::vector<double> sums_of(const std::vector<std::vector<double>>& images, Addends addends) {
  std::vector<double> sums;
  for (const std::vector<double>& image : images) {
    const std::vector<double> of_image = addends(image);
    sums.resize(of_image.size());
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += of_image[i];
  }
  return sums;
}

TEST_CASE("Frechet distance from N(0, I): by hand in one dimension, and of correlated features") {
  // The images 1 and 5 have the mean 3 and the variance 8.
  CHECK(frechet_distance(sums_of({{1}, {5}}, frechet_addends)) ==
        doctest::Approx(9 + std::pow(std::sqrt(8) - 1, 2)));
  CHECK(std::isnan(frechet_distance(sums_of({{1}}, frechet_addends))));
  // +-(a, a) and +-(b, -b), mean 0: variances (4 a^2) / 3 and (4 b^2) / 3 along the diagonals.
  const double a = 2, b = 0.5;
  const double first = std::sqrt(4 * a * a / 3) - 1, second = std::sqrt(4 * b * b / 3) - 1;
  CHECK(frechet_distance(sums_of({{a, a}, {-a, -a}, {b, -b}, {-b, b}}, frechet_addends)) ==
        doctest::Approx(first * first + second * second));
}

TEST_CASE("images of the held-out kind themselves are at (d + d (d + 1) / 4) / n in the mean") {
  double sum = 0;
  const int kSets = 200, kImages = 100, kFeatures = 4;
  for (int set = 0; set < kSets; ++set) {
    SampledChance chance(static_cast<std::uint64_t>(set));
    std::vector<std::vector<double>> images(kImages, std::vector<double>(kFeatures));
    for (int i = 0; i < kImages; ++i)
      for (int k = 0; k < kFeatures; ++k)
        images[i][k] = chance.normal({0, i, Purpose::train, static_cast<std::uint32_t>(k), 0});
    sum += frechet_distance(sums_of(images, frechet_addends));
  }
  CHECK(sum / kSets == doctest::Approx((4 + 5.0) / kImages).epsilon(0.1).scale(0));
}

TEST_CASE(
    "Inception-style score: the number of classes that are told apart, 1 where an image says "
    "nothing") {
  std::vector<std::vector<double>> certain, unsure(10, {0.25, 0.75}), half;
  for (int i = 0; i < 12; ++i) {
    certain.push_back({0, 0, 0});
    certain.back()[i % 3] = 1;
    half.push_back(i % 2 ? std::vector<double>{0.9, 0.1} : std::vector<double>{0.1, 0.9});
  }
  CHECK(class_score(sums_of(certain, class_score_addends)) == doctest::Approx(3));
  CHECK(class_score(sums_of(unsure, class_score_addends)) == doctest::Approx(1));
  const double divergence = 0.9 * std::log(0.9 / 0.5) + 0.1 * std::log(0.1 / 0.5);
  CHECK(class_score(sums_of(half, class_score_addends)) == doctest::Approx(std::exp(divergence)));
}

TEST_CASE("mean distances to the others") {
  Eigen::MatrixXd points(2, 3);
  points << 0, 3, 7, 1, 1, 1;
  CHECK(mean_distances(points).isApprox(Eigen::Vector3d(5, 3.5, 5.5)));
  CHECK(std::isnan(mean_distances(points.leftCols(1))[0]));
}

}  // namespace
}  // namespace draftlab
