#include "core/prob/distribution.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/prob/distribution_loops.h"

namespace draftlab {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A difference of two distributions below this is rounding.
constexpr double kRounding = 1e-13;

}  // namespace

struct Distribution::State {
  // Logits are kept until the first question about a probability, then normalised once.
  std::shared_ptr<const void> owner;
  std::span<const float> logits;
  Token excluded = kNoToken;
  double log_normaliser = 0;  // The logarithm of the sum of exp(logit).
  bool normalised = false;
  Eigen::ArrayXd p;

  struct Summary {
    Token argmax;
    double max, second, entropy, renyi2;
  };
  Summary summary;
  bool summarised = false;

  const Eigen::ArrayXd& normalise() {
    if (normalised) return p;
    const auto size = static_cast<Eigen::Index>(logits.size());
    const Eigen::Map<const Eigen::ArrayXf> x(logits.data(), size);
    // The excluded token is left out of the maximum and of the sum. If it were subtracted from
    // them, a leading one would leave nothing.
    const Eigen::Index before = excluded == kNoToken ? size : excluded,
                       after = std::min(before + 1, size);
    double largest = -kInfinity;
    if (before > 0) largest = x.head(before).maxCoeff();
    if (after < size) largest = std::max<double>(largest, x.tail(size - after).maxCoeff());
    if (!std::isfinite(largest))
      throw DataError("a model answered with logits that are not finite");
    p.resize(size);
    double sum = exponentials(logits.data(), largest, p.data(), before);
    if (before < size) p[before] = 0;
    sum += exponentials(logits.data() + after, largest, p.data() + after, size - after);
    if (!std::isfinite(sum)) throw DataError("a model answered with logits that are not finite");
    p *= 1 / sum;
    log_normaliser = largest + std::log(sum);
    normalised = true;
    return p;
  }

  double log_probability(Token token) {
    normalise();
    if (p[token] == 0) return -kInfinity;
    return logits.empty() ? std::log(p[token]) : logits[token] - log_normaliser;
  }

  const Summary& summarise() {
    if (summarised) return summary;
    normalise();
    // Without logits the entropy is summed from the probabilities themselves.
    const std::vector<float> none(logits.empty() ? static_cast<std::size_t>(p.size()) : 0);
    const Moments all = moments(p.data(), logits.empty() ? none.data() : logits.data(), p.size());
    summary.max = all.largest;
    summary.argmax =
        static_cast<Token>(std::find(p.data(), p.data() + p.size(), summary.max) - p.data());
    summary.second = std::max(all.second, 0.0);
    summary.renyi2 = all.squares;
    summary.entropy = 0;
    if (logits.empty()) {
      for (const double mass : p)
        if (mass > 0) summary.entropy -= mass * std::log(mass);
    } else {
      summary.entropy = std::max(0.0, log_normaliser - all.mean);
    }
    summarised = true;
    return summary;
  }
};

Distribution::Distribution(Eigen::ArrayXd weights) : state_(std::make_shared<State>()) {
  const double sum = weights.sum();
  if (!(sum > 0) || !std::isfinite(sum) || weights.minCoeff() < 0)
    throw Fault("weights of a distribution must be non-negative with a positive sum, which is {:f}",
                sum);
  state_->p = weights / sum;
  state_->normalised = true;
}

Distribution Distribution::point(Token token, int size) {
  if (token < 0 || token >= size)
    throw Fault("token {} lies outside a vocabulary of {}", token, size);
  Eigen::ArrayXd weights = Eigen::ArrayXd::Zero(size);
  weights[token] = 1;
  return Distribution(std::move(weights));
}

Distribution Distribution::uniform(int size) { return Distribution(Eigen::ArrayXd::Ones(size)); }

Distribution Distribution::from_logits(std::shared_ptr<const void> owner,
                                       std::span<const float> logits, Token excluded) {
  Distribution distribution;
  distribution.state_ = std::make_shared<State>();
  distribution.state_->owner = std::move(owner);
  distribution.state_->logits = logits;
  distribution.state_->excluded = excluded;
  return distribution;
}

int Distribution::size() const {
  if (!state_) return 0;
  return static_cast<int>(state_->normalised ? static_cast<std::size_t>(state_->p.size())
                                             : state_->logits.size());
}

double Distribution::probability(Token token) const { return state_->normalise()[token]; }
double Distribution::log_probability(Token token) const { return state_->log_probability(token); }
const Eigen::ArrayXd& Distribution::probabilities() const { return state_->normalise(); }

Token Distribution::argmax() const { return state_->summarise().argmax; }
std::vector<Token> Distribution::best(int count) const {
  const Eigen::ArrayXd& p = probabilities();
  std::vector<Token> tokens(static_cast<std::size_t>(p.size()));
  std::iota(tokens.begin(), tokens.end(), 0);
  const auto last = tokens.begin() + std::min<std::ptrdiff_t>(count, p.size());
  std::partial_sort(tokens.begin(), last, tokens.end(),
                    [&](Token a, Token b) { return p[a] != p[b] ? p[a] > p[b] : a < b; });
  tokens.erase(last, tokens.end());
  return tokens;
}
double Distribution::max() const { return state_->summarise().max; }
double Distribution::margin() const { return state_->summarise().max - state_->summarise().second; }
double Distribution::entropy() const { return state_->summarise().entropy; }
double Distribution::renyi2() const { return state_->summarise().renyi2; }

Token Distribution::quantile(double u) const {
  const Eigen::ArrayXd& p = probabilities();
  double cumulative = 0;
  // The last token of positive probability, which u takes when rounding left the sum below it.
  Token last = 0;
  for (Token token = 0; token < p.size(); ++token) {
    if (p[token] <= 0) continue;
    cumulative += p[token];
    last = token;
    if (cumulative > u) break;
  }
  return last;
}

Distribution shaped(const Distribution& raw, const Sampling& sampling) {
  const int size = raw.size();
  if (sampling.temperature == 0) return Distribution::point(raw.argmax(), size);
  const bool cut_k = sampling.top_k > 0 && sampling.top_k < size;
  const bool cut_p = sampling.top_p < 1;
  if (sampling.temperature == 1 && !cut_k && !cut_p) return raw;

  Eigen::ArrayXd weights = raw.probabilities();
  if (sampling.temperature != 1) {
    // The weights are p^(1/T), scaled so that the largest is one; otherwise small temperatures
    // would make all of them underflow. Rounding must put none above it: near temperature 0 that
    // would be infinitely much.
    const double largest = raw.log_probability(raw.argmax());
    for (Token token = 0; token < size; ++token) {
      if (weights[token] <= 0) continue;
      const double below = std::min(0.0, raw.log_probability(token) - largest);
      weights[token] = std::exp(below / sampling.temperature);
    }
  }
  if (!cut_k && !cut_p) return Distribution(std::move(weights));

  std::vector<Token> order(size);
  std::iota(order.begin(), order.end(), 0);
  const auto before = [&](Token a, Token b) {
    return weights[a] != weights[b] ? weights[a] > weights[b] : a < b;
  };
  std::size_t kept = order.size();
  if (cut_k) {
    kept = static_cast<std::size_t>(sampling.top_k);
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                     before);
  }
  if (cut_p) {
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(kept);
    std::sort(order.begin(), end, before);
    const double total = std::accumulate(
        order.begin(), end, 0.0, [&](double sum, Token token) { return sum + weights[token]; });
    const double wanted = (sampling.top_p - kRounding) * total;
    double mass = 0;
    std::size_t prefix = 0;
    while (prefix < kept && (prefix == 0 || mass < wanted)) mass += weights[order[prefix++]];
    kept = prefix;
  }
  for (std::size_t i = kept; i < order.size(); ++i) weights[order[i]] = 0;
  return Distribution(std::move(weights));
}

Distribution residual(const Distribution& p, const Distribution& q) {
  if (p.size() != q.size())
    throw Fault("a residual of distributions over {} and {} tokens", p.size(), q.size());
  Eigen::ArrayXd excess = (p.probabilities() - q.probabilities()).max(0.0);
  if (excess.sum() <= kRounding) return p;
  return Distribution(std::move(excess));
}

}  // namespace draftlab
