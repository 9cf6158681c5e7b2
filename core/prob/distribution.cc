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

// Of a vocabulary of fewer tokens all probabilities are computed when one is asked for, and of a
// larger one when more than so many are.
constexpr Eigen::Index kLarge = 4096;
constexpr int kFewTokens = 4;

// Returns the token at which the sum of p passes u, summing stretches of p first, which is faster
// than token by token. Where another order of summing could give another token, it returns
// kNoToken.
Token passes(const Eigen::ArrayXd& p, double u) {
  constexpr Eigen::Index kStretch = 512;
  constexpr double kMargin = 1e-9;
  double sum = 0;
  for (Eigen::Index first = 0; first < p.size(); first += kStretch) {
    const Eigen::Index end = std::min(first + kStretch, p.size());
    const double after = sum + total(p.data() + first, end - first);
    if (after < u - kMargin) {
      sum = after;
      continue;
    }
    for (Eigen::Index token = first; token < end && sum < u - kMargin; ++token) {
      sum += p[token];
      if (sum > u + kMargin) return static_cast<Token>(token);
    }
    return kNoToken;
  }
  return kNoToken;
}

}  // namespace

struct Distribution::State {
  // Logits are kept until a probability is asked for.
  std::shared_ptr<const void> owner;
  std::span<const float> logits;
  Token excluded = kNoToken;
  bool summed = false;
  // The largest logit, the sum of exp(logit - largest), and the logarithm of that of exp(logit).
  double largest = 0, sum = 0, log_normaliser = 0;
  // Probabilities asked for one by one.
  int asked = 0;
  // All probabilities; empty until they are needed.
  Eigen::ArrayXd p;

  struct Summary {
    Token argmax;
    double max, second, entropy, renyi2;
  };
  Summary summary;
  bool summarised = false;

  // The logits before the excluded token and those after it. If it were subtracted from their sum,
  // a leading one would leave nothing.
  std::span<const float> before() const {
    return excluded == kNoToken ? logits : logits.first(static_cast<std::size_t>(excluded));
  }
  std::span<const float> after() const {
    return logits.subspan(std::min(before().size() + 1, logits.size()));
  }

  // Sums the exponentials, and writes them to `to` unless it is null.
  void add_up(double* to) {
    const std::span<const float> parts[] = {before(), after()};
    largest = -kInfinity;
    for (const std::span<const float> part : parts)
      largest = std::max<double>(largest, draftlab::largest(part.data(), std::ssize(part)));
    if (!std::isfinite(largest))
      throw DataError("a model answered with logits that are not finite");
    sum = 0;
    for (const std::span<const float> part : parts) {
      const auto size = static_cast<std::int64_t>(part.size());
      sum += to ? exponentials(part.data(), largest, to + (part.data() - logits.data()), size)
                : exponential_sum(part.data(), largest, size);
    }
    if (!std::isfinite(sum)) throw DataError("a model answered with logits that are not finite");
    log_normaliser = largest + std::log(sum);
    summed = true;
  }

  const Eigen::ArrayXd& all() {
    if (p.size() > 0) return p;
    Eigen::ArrayXd numbers(static_cast<Eigen::Index>(logits.size()));
    if (excluded != kNoToken) numbers[excluded] = 0;
    add_up(numbers.data());
    // What summarises them is computed in the same pass, while they are near.
    const Moments of = scale(numbers.data(), 1 / sum, logits.data(), numbers.size());
    summarise(of, std::max(0.0, log_normaliser - of.mean));
    p = std::move(numbers);
    return p;
  }

  double probability(Token token) {
    if (p.size() == 0 && (std::ssize(logits) < kLarge || ++asked > kFewTokens)) all();
    if (p.size() > 0) return p[token];
    if (!summed) add_up(nullptr);
    if (token == excluded) return 0;
    const std::span<const float> part = token < std::ssize(before()) ? before() : after();
    return exponential_at(part.data(), largest, std::ssize(part), &logits[token] - part.data()) *
           (1 / sum);
  }

  double log_probability(Token token) {
    const double mass = probability(token);
    if (mass == 0) return -kInfinity;
    return logits.empty() ? std::log(mass) : logits[token] - log_normaliser;
  }

  void summarise(const Moments& of, double entropy) {
    summary = {static_cast<Token>(of.first), of.largest, std::max(of.second, 0.0), entropy,
               of.squares};
    summarised = true;
  }

  const Summary& summarise() {
    all();
    if (summarised) return summary;
    // Without logits the entropy is summed from the probabilities themselves.
    double entropy = 0;
    for (const double mass : p)
      if (mass > 0) entropy -= mass * std::log(mass);
    const std::vector<float> none(static_cast<std::size_t>(p.size()));
    summarise(scale(p.data(), 1, none.data(), p.size()), entropy);
    return summary;
  }
};

Distribution::Distribution(Eigen::ArrayXd weights) : state_(std::make_shared<State>()) {
  const double sum = weights.sum();
  if (!(sum > 0) || !std::isfinite(sum) || weights.minCoeff() < 0)
    throw Fault("weights of a distribution must be non-negative with a positive sum, which is {:f}",
                sum);
  state_->p = weights / sum;
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
  return static_cast<int>(
      state_->logits.empty() ? state_->p.size() : static_cast<Eigen::Index>(state_->logits.size()));
}

double Distribution::probability(Token token) const { return state_->probability(token); }
double Distribution::log_probability(Token token) const { return state_->log_probability(token); }
const Eigen::ArrayXd& Distribution::probabilities() const { return state_->all(); }

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
  if (p.size() >= kLarge)
    if (const Token token = passes(p, u); token != kNoToken) return token;
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
