// Makes the project's own images: digits of seven segments with noise, from a seed (data/README.md
// describes them).
#pragma once

#include <cstdint>

#include "plugins/tasks/images/labelled_image.h"
#include "plugins/tasks/problem_split.h"

namespace draftlab {

inline constexpr int kDigitSide = 16;
// An image has 16 tokens of 16 values.
inline constexpr int kDigitPatch = 4;

// Makes image `index` of a split, of class index mod 10. It depends on nothing but seed, index and
// split; splits share no random numbers. Size, slant, thickness, brightness and place vary, and
// every pixel has noise of its own.
LabelledImage make_digit(std::uint64_t seed, std::int64_t index, ProblemSplit split);

// The affine map that made pixel values of intensities in [0, 1], so that the values have about
// zero mean and unit variance.
inline constexpr PixelScale kDigitScale{0.18, 0.33};

}  // namespace draftlab
