// The statistics by which samples of a decoder of vectors are compared with a law, and the bounds
// that they may not exceed.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "plugins/models/toy/known_joint.h"

namespace draftlab {

// What a statistic is counted in: standard errors; the distance of two distribution functions; or
// cases of which none may happen.
enum class CheckUnit { errors, distance, cases };

// One statistic, or the largest of several of one kind, and a bound that it exceeds with a
// probability that Bonferroni's correction makes small enough.
struct Check {
  std::string name;
  std::int64_t samples = 0;
  // The number of statistics of which `statistic` is the largest.
  int statistics = 1;
  double statistic = 0, critical = 0;
  CheckUnit unit = CheckUnit::errors;
  // Whether a lossy decoder may fail the check; false marks a claim that must hold for either.
  bool of_law = true;
  bool passes() const { return statistic <= critical; }
};

// The mean and the error of a quantity that is met again and again.
struct Tally {
  std::int64_t count = 0;
  double sum = 0, squares = 0;
  void add(double x) { ++count, sum += x, squares += x * x; }
  double mean() const { return count > 0 ? sum / static_cast<double>(count) : 0; }
  double variance() const {
    return count > 1 ? std::max(0.0, squares / static_cast<double>(count) - mean() * mean()) : 0;
  }
  double error() const {
    return std::sqrt(variance() / static_cast<double>(std::max<std::int64_t>(1, count)));
  }
};

// Returns how many errors two numbers are apart. Numbers without spread are compared up to
// rounding.
double errors_apart(double a, double b, double error);

// Checks that the innovations of the decodes, a vector each, are independent standard normals.
// Decodes with fewer of them than the longest are left out.
void check_innovations(const std::vector<std::vector<double>>& decodes, std::vector<Check>& checks);

// Checks the moments of the tokens, laid one after another, against the law that the model knows.
void check_moments(const std::vector<Eigen::VectorXd>& decodes, const JointMoments& joint,
                   std::vector<Check>& checks);

// Sets the bound that each check exceeds with probability alpha / (number of statistics) a
// statistic.
void correct(std::vector<Check>& checks, double alpha);

}  // namespace draftlab
