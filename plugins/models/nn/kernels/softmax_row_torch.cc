#include "plugins/models/nn/kernels/softmax_row.h"

#include <bit>

#include "plugins/models/nn/kernels/rows/lanes.h"

namespace draftlab {
namespace {

DRAFTLAB_INLINE float soften(float* row, std::int64_t length, float most) {
  // Computes exp(x), x <= 0, as 2^n * e^r with |r| <= ln(2)/2 and e^r by its Taylor polynomial. The
  // relative error is below 2e-7.
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t j = 0; j < length; ++j) {
    float x = row[j] - most;
    const bool nothing = x < -87.f;
    x = nothing ? -87.f : x;
    // The constant is 1.5 * 2^23: adding it rounds to an integer.
    constexpr float kRound = 12582912.f;
    const float n = (x * 1.44269504f + kRound) - kRound;
    const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    const float e =
        1.f +
        r * (1.f + r * (0.5f +
                        r * (1.f / 6 + r * (1.f / 24 + r * (1.f / 120 +
                                                            r * (1.f / 720 + r * (1.f / 5040)))))));
    const float power = std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);
    const float value = nothing ? 0.f : e * power;
    row[j] = value;
    sum += value;
  }
  return sum;
}

DRAFTLAB_INLINE void normalise(float* row, std::int64_t length) {
  float most = kUnseen;
#pragma omp simd reduction(max : most)
  for (std::int64_t j = 0; j < length; ++j) most = row[j] > most ? row[j] : most;
  const float share = 1.f / soften(row, length, most);
  for (std::int64_t j = 0; j < length; ++j) row[j] *= share;
}

}  // namespace

float soften_row(float* row, std::int64_t length, float most) {
  return on_widest([&] { return soften(row, length, most); });
}

void normalise_row(float* row, std::int64_t length) {
  on_widest([&] { normalise(row, length); });
}

}  // namespace draftlab
