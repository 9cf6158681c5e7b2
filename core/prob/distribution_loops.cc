#include "core/prob/distribution_loops.h"

#include <algorithm>
#include <cstring>

namespace draftlab {
namespace {

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

// Without a `p` the exponentials are only summed.
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
      if (p) *reinterpret_cast<typename Vector::Numbers*>(p + at) = some;
      sums[v] += some;
    }
  }
  double sum = sum_of<Vector>(sums);
  for (; i < size; ++i) {
    double one;
    exponential<std::uint64_t>(x[i] - largest, one);
    if (p) p[i] = one;
    sum += one;
  }
  return sum;
}

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
// Clang 14 knows no levels of x86-64.
#if defined(__x86_64__) && !defined(__clang__)
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
#if defined(__x86_64__) && !defined(__clang__)
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

}  // namespace

double exponentials(const float* x, double largest, double* p, std::int64_t size) {
  return loops().exponentials(x, largest, p, size);
}

double exponential_sum(const float* x, double largest, std::int64_t size) {
  return loops().exponentials(x, largest, nullptr, size);
}

double exponential_at(const float* x, double largest, std::int64_t size, std::int64_t index) {
  // The numbers that are computed together with it, which may be in other operations than alone.
  double some[kLanes];
  const std::int64_t first = index / kLanes * kLanes;
  loops().exponentials(x + first, largest, some, std::min(kLanes, size - first));
  return some[index - first];
}

Moments moments(const double* p, const float* x, std::int64_t size) {
  return loops().moments(p, x, size);
}

}  // namespace draftlab
