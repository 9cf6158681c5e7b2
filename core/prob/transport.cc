#include "core/prob/transport.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

namespace draftlab {
namespace {

constexpr double kEqual = 1e-9;

// Says whether `next` is `law` with one token struck out and the rest normalised.
bool strikes_out(const Eigen::ArrayXd& law, const Eigen::ArrayXd& next) {
  Eigen::Index struck = -1;
  for (Eigen::Index x = 0; x < law.size(); ++x) {
    if (law[x] <= 0 || next[x] > 0) continue;
    if (struck >= 0) return false;
    struck = x;
  }
  if (struck < 0 || law[struck] >= 1) return false;
  Eigen::ArrayXd rest = law / (1 - law[struck]);
  rest[struck] = 0;
  return (rest - next).abs().maxCoeff() < kEqual;
}

// The probability that `count` draws of `law` without replacement all lie in a set that grows by
// one token at a time. Tokens arrive at exponential times whose rates are their probabilities, and
// the first `count` of them are the draws. So this is the probability that at most `count` - 1
// tokens of the set arrive before one outside it does, taken from one; the integral over the time
// of that arrival is summed at points whose logarithms are spaced doubly exponentially.
class WithoutReplacement {
 public:
  WithoutReplacement(const Eigen::ArrayXd& law, std::size_t count) : law_(law) {
    for (double x = -4.5; x <= 4.5; x += kSpacing) {
      const double time = std::exp(std::numbers::pi / 2 * std::sinh(x));
      points_.push_back({time, kSpacing * time * std::numbers::pi / 2 * std::cosh(x),
                         std::vector<double>(count)});
      points_.back().arrived.front() = 1;
    }
  }
  void add(Eigen::Index token) {
    mass_ += law_[token];
    for (Point& point : points_) {
      const double absent = std::exp(-law_[token] * point.time),
                   there = -std::expm1(-law_[token] * point.time);
      std::vector<double>& arrived = point.arrived;
      for (std::size_t k = arrived.size(); k-- > 0;)
        arrived[k] = arrived[k] * absent + (k > 0 ? arrived[k - 1] * there : 0);
    }
  }
  double probability() const {
    const double outside = 1 - mass_;
    if (outside <= kEqual) return 1;
    double fewer = 0;
    for (const Point& point : points_)
      fewer += point.weight * outside * std::exp(-outside * point.time) *
               std::accumulate(point.arrived.begin(), point.arrived.end(), 0.0);
    return std::clamp(1 - fewer, 0.0, 1.0);
  }

 private:
  static constexpr double kSpacing = 1.0 / 16;
  struct Point {
    double time, weight;
    std::vector<double> arrived;  // The probability of each number of arrivals below `count`.
  };
  Eigen::ArrayXd law_;
  std::vector<Point> points_;
  double mass_ = 0;
};

// The probability that draws of several laws, independent of one another, all lie in the set.
class Independent {
 public:
  explicit Independent(std::vector<Eigen::ArrayXd> laws)
      : laws_(std::move(laws)), mass_(laws_.size()) {}
  void add(Eigen::Index token) {
    for (std::size_t j = 0; j < laws_.size(); ++j) mass_[j] += laws_[j][token];
  }
  double probability() const {
    return std::accumulate(mass_.begin(), mass_.end(), 1.0, std::multiplies<>());
  }

 private:
  std::vector<Eigen::ArrayXd> laws_;
  std::vector<double> mass_;
};

// By the duality of flows and cuts the limit is the least value of 1 + p(H) - P(all drafts in H)
// over sets H of tokens; the prefixes of one order suffice. What any other set gives is no less.
template <class Drafts>
double least_cut(const Eigen::ArrayXd& target, const std::vector<Eigen::Index>& order,
                 Drafts drafts) {
  double least = 1, mass = 0;
  for (const Eigen::Index token : order) {
    drafts.add(token);
    mass += target[token];
    least = std::min(least, 1 + mass - drafts.probability());
  }
  return std::max(0.0, least);
}

}  // namespace

double transport_limit(const Distribution& target, std::span<const Distribution> drawn_from) {
  const Eigen::ArrayXd& p = target.probabilities();
  std::vector<Eigen::ArrayXd> laws;
  for (const Distribution& law : drawn_from) laws.push_back(law.probabilities());

  bool without_replacement = laws.size() > 1;
  for (std::size_t j = 1; j < laws.size(); ++j)
    without_replacement = without_replacement && strikes_out(laws[j - 1], laws[j]);

  // Certain drafts come first, as no cut without them counts; then falling ratios of what drafts
  // and target say.
  Eigen::ArrayXd certain = Eigen::ArrayXd::Zero(p.size()), most = certain;
  for (const Eigen::ArrayXd& law : laws) {
    certain = certain.max((law >= 1).cast<double>());
    most = most.max(law);
  }
  std::vector<Eigen::Index> order(static_cast<std::size_t>(p.size()));
  std::iota(order.begin(), order.end(), 0);
  if (without_replacement) {
    most = laws.front();
    certain.setZero();
  }
  std::sort(order.begin(), order.end(), [&](Eigen::Index a, Eigen::Index b) {
    if (certain[a] != certain[b]) return certain[a] > certain[b];
    const double left = most[a] * p[b], right = most[b] * p[a];
    return left != right ? left > right : a < b;
  });
  return without_replacement ? least_cut(p, order, WithoutReplacement(laws.front(), laws.size()))
                             : least_cut(p, order, Independent(std::move(laws)));
}

}  // namespace draftlab
