#include "plugins/tasks/images/digits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/prob/chance.h"
#include "plugins/tasks/choices.h"

namespace draftlab {
namespace {

struct StrokePoint {
  double x = 0, y = 0;
};
struct Stroke {
  StrokePoint from, to;
};

// The segments lie on a board of 1 x 1 with y down: a (top), b (upper right), c (lower right), d
// (bottom), e (lower left), f (upper left), g (middle).
constexpr std::array<Stroke, 7> kSegments{{{{0, 0}, {1, 0}},
                                           {{1, 0}, {1, .5}},
                                           {{1, .5}, {1, 1}},
                                           {{0, 1}, {1, 1}},
                                           {{0, .5}, {0, 1}},
                                           {{0, 0}, {0, .5}},
                                           {{0, .5}, {1, .5}}}};
// Bit i says whether segment i is lit.
constexpr std::array<unsigned, 10> kLit{0b0111111, 0b0000110, 0b1011011, 0b1001111, 0b1100110,
                                        0b1101101, 0b1111101, 0b0000111, 0b1111111, 0b1101111};

// The standard deviation of the noise, in intensity.
constexpr double kNoise = 0.1;

double distance(const StrokePoint& point, const Stroke& stroke) {
  const double dx = stroke.to.x - stroke.from.x, dy = stroke.to.y - stroke.from.y;
  const double along =
      ((point.x - stroke.from.x) * dx + (point.y - stroke.from.y) * dy) / (dx * dx + dy * dy);
  const double t = std::clamp(along, 0.0, 1.0);
  const double x = stroke.from.x + t * dx - point.x, y = stroke.from.y + t * dy - point.y;
  return std::sqrt(x * x + y * y);
}

// Returns the lit segments of a digit at a random size, slant and place, whole on the canvas.
std::vector<Stroke> strokes_of(int digit, double thickness, Choices& choices) {
  const double width = choices.real(5.5, 7.5), height = choices.real(9.5, 11.5),
               slant = choices.real(-0.05, 0.2);
  std::vector<Stroke> strokes;
  double low = 1e9, high = -1e9;
  const auto placed = [&](const StrokePoint& point) {
    const StrokePoint at{width * point.x + slant * height * (1 - point.y), height * point.y};
    low = std::min(low, at.x), high = std::max(high, at.x);
    return at;
  };
  for (std::size_t s = 0; s < kSegments.size(); ++s)
    if (kLit[static_cast<std::size_t>(digit)] >> s & 1)
      strokes.push_back({placed(kSegments[s].from), placed(kSegments[s].to)});
  // The distance from a stroke's line within which pixels are drawn.
  const double edge = (thickness + 1) / 2;
  const double x = choices.real(edge - 0.5 - low, kDigitSide - 0.5 - edge - high);
  const double y = choices.real(edge - 0.5, kDigitSide - 0.5 - edge - height);
  for (Stroke& stroke : strokes)
    for (StrokePoint* const end : {&stroke.from, &stroke.to}) end->x += x, end->y += y;
  return strokes;
}

}  // namespace

LabelledImage make_digit(std::uint64_t seed, std::int64_t index, ProblemSplit split) {
  const std::uint32_t stream = static_cast<std::uint32_t>(split);
  LabelledImage image{Eigen::MatrixXd(kDigitSide, kDigitSide), static_cast<int>(index % 10)};
  Choices choices(seed, index, stream, 0);
  const double thickness = choices.real(1.4, 2.2), ink = choices.real(0.8, 1);
  const std::vector<Stroke> strokes = strokes_of(image.label, thickness, choices);
  SampledChance noise(seed);
  for (int r = 0; r < kDigitSide; ++r) {
    for (int c = 0; c < kDigitSide; ++c) {
      double covered = 0;  // A stroke's border is one pixel wide.
      for (const Stroke& stroke : strokes)
        covered = std::max(
            covered,
            std::clamp((thickness + 1) / 2 - distance({double(c), double(r)}, stroke), 0.0, 1.0));
      const Site site{static_cast<std::uint64_t>(index), r * kDigitSide + c, Purpose::train, stream,
                      1};
      image.pixels(r, c) = kDigitScale.value(ink * covered + kNoise * noise.normal(site));
    }
  }
  return image;
}

}  // namespace draftlab
