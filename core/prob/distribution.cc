#include "core/prob/distribution.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace draftlab {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A difference of two distributions below this is rounding.
constexpr double kRounding = 1e-13;

// Below this exponent, exp counts as zero.
constexpr double kLowestExponent = -700;

// A row of a large vocabulary is normalised and summarised several times a step. These loops make
// one pass each, eight numbers at a time; the compiler alone would keep a sum over doubles in order
// and hence scalar. Eight lanes are one vector where the processor has such, and two elsewhere: the
// compiler takes a vector apart that is wider than the processor's, at several times the cost.
#define DRAFTLAB_INLINE inline __attribute__((always_inline))
constexpr std::int64_t kLanes = 8;
struct Whole {
  typedef double Numbers __attribute__((vector_size(64), aligned(8), may_alias));
  typedef float Floats __attribute__((vector_size(32), aligned(4), may_alias));
  typedef std::uint64_t Bits __attribute__((vector_size(64)));
};
struct Half {
  typedef double Numbers __attribute__((vector_size(32), aligned(8), may_alias));
  typedef float Floats __attribute__((vector_size(16), aligned(4), may_alias));
  typedef std::uint64_t Bits __attribute__((vector_size(32)));
};
template <class Vector>
constexpr int kWidth = sizeof(typename Vector::Numbers) / sizeof(double);
template <class Vector>
constexpr int kVectors = kLanes / kWidth<Vector>;

// Vectors are passed by reference: by value, their place would depend on the instruction set.
template <class Vector>
DRAFTLAB_INLINE void load(const double* from, typename Vector::Numbers& to) {
  to = *reinterpret_cast<const typename Vector::Numbers*>(from);
}
template <class Vector>
DRAFTLAB_INLINE void load(const float* from, typename Vector::Numbers& to) {
  to = __builtin_convertvector(*reinterpret_cast<const typename Vector::Floats*>(from),
                               typename Vector::Numbers);
}

template <class Vector>
DRAFTLAB_INLINE double sum_of(const typename Vector::Numbers* lanes) {
  double sum = 0;
  for (int v = 0; v < kVectors<Vector>; ++v)
    for (int j = 0; j < kWidth<Vector>; ++j) sum += lanes[v][j];
  return sum;
}

// Computes exp(x) for x <= 0, to the last bit or two, as 2^n e^r with |r| <= ln(2) / 2, and e^r by
// its Taylor polynomial. `Number` is one number or a vector.
template <class Bits, class Number>
DRAFTLAB_INLINE void exponential(const Number& x, Number& result) {
  // The constant is 1.5 * 2^52: adding it rounds to an integer, which the low bits of the sum then
  // hold.
  constexpr double kRound = 6755399441055744.0;
  // The comparison is false for NaN, which stays what it is.
  const auto nothing = x < kLowestExponent;
  const Number value = nothing ? Number{} : x;
  const Number shifted = value * 1.4426950408889634074 + kRound, n = shifted - kRound;
  const Number r = (value - n * 6.93145751953125e-1) - n * 1.42860682030941723212e-6;
  const Number low = 1 + r * (1 + r * (1.0 / 2 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120)))));
  const Number high =
      1.0 / 720 +
      r * (1.0 / 5040 +
           r * (1.0 / 40320 +
                r * (1.0 / 362880 +
                     r * (1.0 / 3628800 + r * (1.0 / 39916800 + r * (1.0 / 479001600))))));
  const Number e = low + (r * r * r) * (r * r * r) * high;
  Bits bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + 1023) << 52;
  Number power;
  std::memcpy(&power, &bits, sizeof power);
  result = nothing ? Number{} : e * power;
}

template <class Vector>
DRAFTLAB_INLINE double exponentials_of(const float* x, double largest, double* p,
                                       std::int64_t size) {
  typename Vector::Numbers sums[kVectors<Vector>] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (int v = 0; v < kVectors<Vector>; ++v) {
      const std::int64_t at = i + v * kWidth<Vector>;
      typename Vector::Numbers some;
      load<Vector>(x + at, some);
      some -= largest;
      exponential<typename Vector::Bits>(some, some);
      *reinterpret_cast<typename Vector::Numbers*>(p + at) = some;
      sums[v] += some;
    }
  }
  double sum = sum_of<Vector>(sums);
  for (; i < size; ++i) {
    exponential<std::uint64_t>(x[i] - largest, p[i]);
    sum += p[i];
  }
  return sum;
}

// Holds the largest and the second largest of p, the sum of squares, and the sum of p x where p is
// positive (x may be -inf elsewhere).
struct Moments {
  double largest = -1, second = -1, squares = 0, mean = 0;
};

template <class Number>
DRAFTLAB_INLINE void rank(const Number& p, Number& largest, Number& second) {
  const Number lower = p < largest ? p : largest;
  second = second < lower ? lower : second;
  largest = largest < p ? p : largest;
}

template <class Vector>
DRAFTLAB_INLINE Moments moments_of(const double* p, const float* x, std::int64_t size) {
  using Numbers = typename Vector::Numbers;
  Numbers squares[kVectors<Vector>] = {}, means[kVectors<Vector>] = {}, largest[kVectors<Vector>],
          second[kVectors<Vector>];
  for (int v = 0; v < kVectors<Vector>; ++v) largest[v] = second[v] = Numbers{} - 1;
  std::int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (int v = 0; v < kVectors<Vector>; ++v) {
      Numbers some, its;
      load<Vector>(p + i + v * kWidth<Vector>, some);
      load<Vector>(x + i + v * kWidth<Vector>, its);
      squares[v] += some * some;
      means[v] += some > 0 ? some * its : Numbers{};
      rank(some, largest[v], second[v]);
    }
  }
  Moments all{-1, -1, sum_of<Vector>(squares), sum_of<Vector>(means)};
  for (int v = 0; v < kVectors<Vector>; ++v) {
    for (int j = 0; j < kWidth<Vector>; ++j) {
      rank<double>(largest[v][j], all.largest, all.second);
      rank<double>(second[v][j], all.largest, all.second);
    }
  }
  for (; i < size; ++i) {
    all.squares += p[i] * p[i];
    if (p[i] > 0) all.mean += p[i] * x[i];
    rank(p[i], all.largest, all.second);
  }
  return all;
}

// The two loops for each instruction set, chosen once. No function is cloned by the linker: under
// the thread sanitizer clones are chosen before its runtime is loaded, which crashes.
struct Loops {
  double (*exponentials)(const float* x, double largest, double* p, std::int64_t size);
  Moments (*moments)(const double* p, const float* x, std::int64_t size);
};
template <class Vector>
double plain_exponentials(const float* x, double largest, double* p, std::int64_t size) {
  return exponentials_of<Vector>(x, largest, p, size);
}
template <class Vector>
Moments plain_moments(const double* p, const float* x, std::int64_t size) {
  return moments_of<Vector>(p, x, size);
}
#if defined(__x86_64__)
#define DRAFTLAB_LOOPS(name, Vector)                                                             \
  __attribute__((target(name))) double exponentials_for_##Vector(const float* x, double largest, \
                                                                 double* p, std::int64_t size) { \
    return exponentials_of<Vector>(x, largest, p, size);                                         \
  }                                                                                              \
  __attribute__((target(name)))                                                                  \
  Moments moments_for_##Vector(const double* p, const float* x, std::int64_t size) {             \
    return moments_of<Vector>(p, x, size);                                                       \
  }
DRAFTLAB_LOOPS("arch=x86-64-v4", Whole)
DRAFTLAB_LOOPS("arch=x86-64-v3", Half)
#undef DRAFTLAB_LOOPS
#endif

Loops chosen_loops() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return {exponentials_for_Whole, moments_for_Whole};
  if (__builtin_cpu_supports("x86-64-v3")) return {exponentials_for_Half, moments_for_Half};
#endif
  return {plain_exponentials<Half>, plain_moments<Half>};
}

const Loops& loops() {
  static const Loops chosen = chosen_loops();
  return chosen;
}

// Computes p = exp(x - largest) and returns the sum.
double exponentials(const float* x, double largest, double* p, std::int64_t size) {
  return loops().exponentials(x, largest, p, size);
}

Moments moments(const double* p, const float* x, std::int64_t size) {
  return loops().moments(p, x, size);
}

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
