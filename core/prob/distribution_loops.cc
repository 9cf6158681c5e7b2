#include "core/prob/distribution_loops.h"

#include <algorithm>
#include <cstring>
#include <limits>

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
// Number by number: g++ makes one instruction of it, and five of its own conversion of vectors.
template <class Vector>
DRAFTLAB_INLINE void load(const float* from, typename Vector::Numbers& to) {
  for (int j = 0; j < kWidth<Vector>; ++j) to[j] = from[j];
}

template <class Vector>
DRAFTLAB_INLINE double sum_of(const typename Vector::Numbers* lanes) {
  double sum = 0;
  for (int v = 0; v < kVectors<Vector>; ++v)
    for (int j = 0; j < kWidth<Vector>; ++j) sum += lanes[v][j];
  return sum;
}

// 2^(j / 16) for j = 0 ... 15.
constexpr double kRoots[16] = {1.0,
                               1.0442737824274138,
                               1.0905077326652577,
                               1.1387886347566916,
                               1.189207115002721,
                               1.241857812073484,
                               1.2968395546510096,
                               1.3542555469368927,
                               1.4142135623730951,
                               1.4768261459394993,
                               1.5422108254079407,
                               1.6104903319492543,
                               1.681792830507429,
                               1.7562521603732995,
                               1.8340080864093424,
                               1.9152065613971474};

// Takes the roots that the last four bits of each number say.
DRAFTLAB_INLINE void look_up(std::uint64_t bits, double& root) { root = kRoots[bits & 15]; }
DRAFTLAB_INLINE void look_up(const Half::Bits& bits, Half::Numbers& roots) {
  roots = Half::Numbers{kRoots[bits[0] & 15], kRoots[bits[1] & 15], kRoots[bits[2] & 15],
                        kRoots[bits[3] & 15]};
}
#if !defined(__clang__)
DRAFTLAB_INLINE void look_up(const Whole::Bits& bits, Whole::Numbers& roots) {
  const auto* const table = reinterpret_cast<const Whole::Numbers*>(kRoots);
  roots = __builtin_shuffle(table[0], table[1], bits);
}
#endif

// Computes exp(x) for x <= 0, to the last bit or two, as 2^(n / 16) e^r with |r| <= ln(2) / 32. The
// polynomial meets e^r at Chebyshev's nodes and is wrong by at most 3e-17. `Number` is one number
// or a vector.
template <class Bits, class Number>
DRAFTLAB_INLINE void exponential(const Number& x, Number& result) {
  // The constant is 1.5 * 2^52: adding it rounds to an integer, which the low bits of the sum then
  // hold.
  constexpr double kRound = 6755399441055744.0;
  const Number shifted = x * 23.083120654223414 + kRound, n = shifted - kRound;
  const Number r = (x - n * 0.04332169878489367) - n * 1.0291218489310676e-13;
  const Number e =
      1 + r * (1 + r * (0.5 + r * (0.16666666665301144 +
                                   r * (0.041666666664959766 +
                                        r * (0.008333449724528355 + r * 0.0013889034377693012)))));
  Bits bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  Number power;
  look_up(bits, power);
  Bits raised;
  std::memcpy(&raised, &power, sizeof raised);
  raised += bits >> 4 << 52;
  std::memcpy(&power, &raised, sizeof power);
  // The comparison is false for NaN, which stays what it is.
  result = x < kLowestExponent ? Number{} : e * power;
}

// Without a `p` the exponentials are only summed.
template <class Vector>
DRAFTLAB_INLINE double exponentials_of(const float* x, double largest, double* p,
                                       std::int64_t size) {
  typename Vector::Numbers sums[kVectors<Vector>] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    // The rows of an answer stand one behind the other, and the next is fetched meanwhile.
    __builtin_prefetch(x + i + size, 0, 2);
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

// Four vectors at a time, because each comparison waits for the one before it.
template <class Vector>
DRAFTLAB_INLINE float largest_of(const float* x, std::int64_t size) {
  using Floats = typename Vector::Floats;
  constexpr int kAtOnce = 4, kFloats = kWidth<Vector>;
  Floats most[kAtOnce];
  for (Floats& some : most) some = Floats{} - std::numeric_limits<float>::infinity();
  std::int64_t i = 0;
  for (; i + kAtOnce * kFloats <= size; i += kAtOnce * kFloats) {
    for (int v = 0; v < kAtOnce; ++v) {
      const Floats& some = *reinterpret_cast<const Floats*>(x + i + v * kFloats);
      most[v] = most[v] < some ? some : most[v];
    }
  }
  float largest = -std::numeric_limits<float>::infinity();
  for (const Floats& some : most)
    for (int j = 0; j < kFloats; ++j) largest = std::max(largest, some[j]);
  for (; i < size; ++i) largest = std::max(largest, x[i]);
  return largest;
}

template <class Vector>
DRAFTLAB_INLINE double total_of(const double* p, std::int64_t size) {
  constexpr int kAtOnce = 4;
  typename Vector::Numbers sums[kAtOnce * kVectors<Vector>] = {};
  std::int64_t i = 0;
  for (; i + kAtOnce * kLanes <= size; i += kAtOnce * kLanes) {
    for (int v = 0; v < kAtOnce * kVectors<Vector>; ++v) {
      typename Vector::Numbers some;
      load<Vector>(p + i + v * kWidth<Vector>, some);
      sums[v] += some;
    }
  }
  double sum = 0;
  for (int v = 0; v < kAtOnce * kVectors<Vector>; ++v)
    for (int j = 0; j < kWidth<Vector>; ++j) sum += sums[v][j];
  for (; i < size; ++i) sum += p[i];
  return sum;
}

template <class Number>
DRAFTLAB_INLINE void rank(const Number& p, Number& largest, Number& second) {
  const Number lower = p < largest ? p : largest;
  second = second < lower ? lower : second;
  largest = largest < p ? p : largest;
}

template <class Vector>
DRAFTLAB_INLINE Moments scaled_of(double* p, double factor, const float* x, std::int64_t size) {
  using Numbers = typename Vector::Numbers;
  Numbers squares[kVectors<Vector>] = {}, means[kVectors<Vector>] = {}, largest[kVectors<Vector>],
          second[kVectors<Vector>];
  for (int v = 0; v < kVectors<Vector>; ++v) largest[v] = second[v] = Numbers{} - 1;
  // The first stretch that has the largest, in which it is looked for in the end.
  constexpr std::int64_t kStretch = 1024;
  std::int64_t leading = 0;
  double lead = -1;
  std::int64_t i = 0;
  for (const std::int64_t last = size / kLanes * kLanes; i < last;) {
    const std::int64_t begin = i, end = std::min(last, begin + kStretch);
    for (; i < end; i += kLanes) {
      for (int v = 0; v < kVectors<Vector>; ++v) {
        const std::int64_t place = i + v * kWidth<Vector>;
        Numbers some, its;
        load<Vector>(p + place, some);
        load<Vector>(x + place, its);
        some *= factor;
        *reinterpret_cast<Numbers*>(p + place) = some;
        squares[v] += some * some;
        means[v] += some > 0 ? some * its : Numbers{};
        rank(some, largest[v], second[v]);
      }
    }
    double most = -1;
    for (const Numbers& some : largest)
      for (int j = 0; j < kWidth<Vector>; ++j) most = std::max<double>(most, some[j]);
    if (most > lead) {
      lead = most;
      leading = begin;
    }
  }
  Moments all{0, -1, -1, sum_of<Vector>(squares), sum_of<Vector>(means)};
  for (int v = 0; v < kVectors<Vector>; ++v) {
    for (int j = 0; j < kWidth<Vector>; ++j) {
      rank<double>(largest[v][j], all.largest, all.second);
      rank<double>(second[v][j], all.largest, all.second);
    }
  }
  for (; i < size; ++i) {
    p[i] *= factor;
    all.squares += p[i] * p[i];
    if (p[i] > 0) all.mean += p[i] * x[i];
    rank(p[i], all.largest, all.second);
  }
  all.first = std::find(p + leading, p + size, all.largest) - p;
  return all;
}

// The loops for each instruction set, chosen once. No function is cloned by the linker: under
// the thread sanitizer clones are chosen before its runtime is loaded, which crashes.
struct Loops {
  float (*largest)(const float* x, std::int64_t size);
  double (*total)(const double* p, std::int64_t size);
  double (*exponentials)(const float* x, double largest, double* p, std::int64_t size);
  Moments (*scaled)(double* p, double factor, const float* x, std::int64_t size);
};
template <class Vector>
float plain_largest(const float* x, std::int64_t size) {
  return largest_of<Vector>(x, size);
}
template <class Vector>
double plain_total(const double* p, std::int64_t size) {
  return total_of<Vector>(p, size);
}
template <class Vector>
double plain_exponentials(const float* x, double largest, double* p, std::int64_t size) {
  return exponentials_of<Vector>(x, largest, p, size);
}
template <class Vector>
Moments plain_scaled(double* p, double factor, const float* x, std::int64_t size) {
  return scaled_of<Vector>(p, factor, x, size);
}
// Clang 14 knows no levels of x86-64.
#if defined(__x86_64__) && !defined(__clang__)
#define DRAFTLAB_LOOPS(name, Vector)                                                             \
  __attribute__((target(name))) float largest_for_##Vector(const float* x, std::int64_t size) {  \
    return largest_of<Vector>(x, size);                                                          \
  }                                                                                              \
  __attribute__((target(name))) double total_for_##Vector(const double* p, std::int64_t size) {  \
    return total_of<Vector>(p, size);                                                            \
  }                                                                                              \
  __attribute__((target(name))) double exponentials_for_##Vector(const float* x, double largest, \
                                                                 double* p, std::int64_t size) { \
    return exponentials_of<Vector>(x, largest, p, size);                                         \
  }                                                                                              \
  __attribute__((target(name)))                                                                  \
  Moments scaled_for_##Vector(double* p, double factor, const float* x, std::int64_t size) {     \
    return scaled_of<Vector>(p, factor, x, size);                                                \
  }
DRAFTLAB_LOOPS("arch=x86-64-v4", Whole)
DRAFTLAB_LOOPS("arch=x86-64-v3", Half)
#undef DRAFTLAB_LOOPS
#endif

Loops chosen_loops() {
#if defined(__x86_64__) && !defined(__clang__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4"))
    return {largest_for_Whole, total_for_Whole, exponentials_for_Whole, scaled_for_Whole};
  if (__builtin_cpu_supports("x86-64-v3"))
    return {largest_for_Half, total_for_Half, exponentials_for_Half, scaled_for_Half};
#endif
  return {plain_largest<Half>, plain_total<Half>, plain_exponentials<Half>, plain_scaled<Half>};
}

const Loops& loops() {
  static const Loops chosen = chosen_loops();
  return chosen;
}

}  // namespace

float largest(const float* x, std::int64_t size) { return loops().largest(x, size); }

double total(const double* p, std::int64_t size) { return loops().total(p, size); }

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

Moments scale(double* p, double factor, const float* x, std::int64_t size) {
  return loops().scaled(p, factor, x, size);
}

}  // namespace draftlab
