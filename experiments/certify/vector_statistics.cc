#include "experiments/certify/vector_statistics.h"

#include <boost/math/distributions/normal.hpp>
#include <limits>

namespace draftlab {
namespace {

// Returns the largest distance between the distribution function of a sample and that of a standard
// normal.
double kolmogorov_smirnov(std::vector<double> sample) {
  std::sort(sample.begin(), sample.end());
  const auto n = static_cast<double>(sample.size());
  double most = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double below = 0.5 * std::erfc(-sample[i] / std::sqrt(2.0)), at = static_cast<double>(i);
    most = std::max({most, below - at / n, (at + 1) / n - below});
  }
  return most;
}

// Returns the largest |correlation| of two different columns, in errors. Rows have mean 0 and
// variance 1 if all is right.
double largest_correlation(const Eigen::MatrixXd& rows) {
  const Eigen::MatrixXd products =
      rows.transpose() * rows / std::sqrt(static_cast<double>(rows.rows()));
  double most = 0;
  for (Eigen::Index i = 0; i < products.rows(); ++i)
    for (Eigen::Index j = 0; j < i; ++j) most = std::max(most, std::abs(products(i, j)));
  return most;
}

}  // namespace

double errors_apart(double a, double b, double error) {
  const double apart = std::abs(a - b);
  return apart < 1e-9 ? 0 : error > 0 ? apart / error : std::numeric_limits<double>::infinity();
}

void check_innovations(const std::vector<std::vector<double>>& decodes,
                       std::vector<Check>& checks) {
  std::size_t columns = 0;
  for (const auto& decode : decodes) columns = std::max(columns, decode.size());
  std::vector<const std::vector<double>*> whole;
  for (const auto& decode : decodes)
    if (decode.size() == columns) whole.push_back(&decode);
  if (columns == 0) return;
  Eigen::MatrixXd rows(static_cast<Eigen::Index>(whole.size()), static_cast<Eigen::Index>(columns));
  for (Eigen::Index i = 0; i < rows.rows(); ++i)
    for (Eigen::Index j = 0; j < rows.cols(); ++j) rows(i, j) = (*whole[i])[j];
  const auto count = static_cast<int>(columns), pairs = count * (count - 1) / 2;
  Check distances{.name = "innovations, largest distance to the normal distribution function",
                  .samples = rows.rows(),
                  .statistics = count,
                  .unit = CheckUnit::distance};
  for (Eigen::Index j = 0; j < rows.cols(); ++j)
    distances.statistic =
        std::max(distances.statistic, kolmogorov_smirnov({rows.col(j).begin(), rows.col(j).end()}));
  checks.push_back(distances);
  checks.push_back({.name = "innovations, largest correlation, in errors",
                    .samples = rows.rows(),
                    .statistics = pairs,
                    .statistic = largest_correlation(rows)});
  const Eigen::MatrixXd squares = (rows.array().square() - 1) / std::sqrt(2.0);
  checks.push_back({.name = "their squares, largest correlation, in errors",
                    .samples = rows.rows(),
                    .statistics = pairs,
                    .statistic = largest_correlation(squares)});
}

void check_moments(const std::vector<Eigen::VectorXd>& decodes, const JointMoments& joint,
                   std::vector<Check>& checks) {
  const Eigen::Index size = joint.mean.size();
  const auto n = static_cast<double>(decodes.size());
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(size);
  Eigen::MatrixXd products = Eigen::MatrixXd::Zero(size, size), squares = products;
  for (const Eigen::VectorXd& decode : decodes) {
    const Eigen::VectorXd off = decode - joint.mean;
    const Eigen::MatrixXd product = off * off.transpose();
    mean += off / n;
    products += product / n;
    squares += product.cwiseAbs2() / n;
  }
  Check means{.name = "mean of the tokens, in errors",
              .samples = static_cast<std::int64_t>(decodes.size()),
              .statistics = static_cast<int>(size)};
  Check covariances{.name = "covariance of the tokens, in errors",
                    .samples = means.samples,
                    .statistics = static_cast<int>(size * (size + 1) / 2)};
  for (Eigen::Index i = 0; i < size; ++i) {
    means.statistic =
        std::max(means.statistic, errors_apart(mean[i], 0, std::sqrt(joint.covariance(i, i) / n)));
    for (Eigen::Index j = 0; j <= i; ++j) {
      const double spread =
          std::sqrt(std::max(0.0, squares(i, j) - products(i, j) * products(i, j)) / n);
      covariances.statistic = std::max(
          covariances.statistic, errors_apart(products(i, j), joint.covariance(i, j), spread));
    }
  }
  checks.push_back(means);
  checks.push_back(covariances);
}

void correct(std::vector<Check>& checks, double alpha) {
  int statistics = 0;
  for (const Check& check : checks) statistics += check.statistics;
  const double each = alpha / statistics;
  for (Check& check : checks) {
    if (check.unit == CheckUnit::cases) continue;
    check.critical =
        check.unit == CheckUnit::distance
            ? std::sqrt(std::log(2 / each) / 2 / static_cast<double>(check.samples))
            : boost::math::quantile(boost::math::complement(boost::math::normal(), each / 2));
  }
}

}  // namespace draftlab
