#include "core/metrics/image_metrics.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

namespace draftlab {

bool is_image_part(std::string_view score) {
  return score.starts_with(kImageFeature) || score.starts_with(kImageClass) ||
         score == kImageDistance || score == kHeldOutDistance || score == kImageLabel;
}

std::vector<double> frechet_addends(std::span<const double> features) {
  std::vector<double> addends{1};
  addends.insert(addends.end(), features.begin(), features.end());
  for (std::size_t i = 0; i < features.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j) addends.push_back(features[i] * features[j]);
  return addends;
}

std::vector<double> class_score_addends(std::span<const double> probabilities) {
  std::vector<double> addends{0};
  for (const double p : probabilities) {
    addends.front() += p > 0 ? p * std::log(p) : 0;
    addends.push_back(p);
  }
  return addends;
}

double frechet_distance(std::span<const double> sums) {
  const double n = sums[0];
  // There are (d + 1)(d + 2) / 2 sums, which gives the number d of features.
  const auto d = static_cast<Eigen::Index>(
      (std::sqrt(8.0 * static_cast<double>(sums.size()) + 1) - 3) / 2 + 0.5);
  if (n <= static_cast<double>(d)) return std::numeric_limits<double>::quiet_NaN();
  const Eigen::VectorXd mean = Eigen::Map<const Eigen::VectorXd>(sums.data() + 1, d) / n;
  Eigen::MatrixXd covariance(d, d);
  const double* product = sums.data() + 1 + d;
  for (Eigen::Index i = 0; i < d; ++i)
    for (Eigen::Index j = 0; j <= i; ++j)
      covariance(i, j) = covariance(j, i) = (*product++ / n - mean[i] * mean[j]) * n / (n - 1);
  const Eigen::VectorXd variances =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(covariance, Eigen::EigenvaluesOnly)
          .eigenvalues()
          .cwiseMax(0);
  return mean.squaredNorm() + (variances.cwiseSqrt().array() - 1).square().sum();
}

double class_score(std::span<const double> sums) {
  double n = 0, negative_entropy = sums[0];
  for (const double p : sums.subspan(1)) n += p;
  if (!(n > 0)) return std::numeric_limits<double>::quiet_NaN();
  for (const double p : sums.subspan(1)) negative_entropy -= p > 0 ? p * std::log(p / n) : 0;
  return std::exp(negative_entropy / n);
}

Eigen::VectorXd mean_distances(const Eigen::MatrixXd& columns) {
  const Eigen::Index n = columns.cols();
  const Eigen::VectorXd norms = columns.colwise().squaredNorm();
  Eigen::VectorXd means(n);
  constexpr Eigen::Index kBlock = 256;
  for (Eigen::Index first = 0; first < n; first += kBlock) {
    const Eigen::Index width = std::min(kBlock, n - first);
    Eigen::MatrixXd distances = -2 * (columns.transpose() * columns.middleCols(first, width));
    distances.colwise() += norms;
    distances.rowwise() += norms.segment(first, width).transpose();
    for (Eigen::Index i = 0; i < width; ++i) distances(first + i, i) = 0;
    means.segment(first, width) =
        distances.cwiseMax(0).cwiseSqrt().colwise().sum().transpose() / static_cast<double>(n - 1);
  }
  return means;
}

}  // namespace draftlab
