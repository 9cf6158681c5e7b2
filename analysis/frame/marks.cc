#include "analysis/frame/marks.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "core/base/error.h"

namespace draftlab {
namespace {

constexpr std::array<int, 8> kColours = {0x0072B2, 0xD55E00, 0x009E73, 0xE69F00,
                                         0x56B4E9, 0xCC79A7, 0x7F7F7F, 0x8B5A2B};
// How far the colours of each round lie towards white, or, where it is negative, towards black.
constexpr std::array<double, 8> kShades = {0, -0.4, 0.4, -0.6, 0.2, -0.2, 0.5, -0.5};
static_assert(kColours.size() * kShades.size() == kMarks);

constexpr std::array<const char*, 14> kShapes = {
    "disc",       "square",        "triangle",    "diamond",      "wedge",
    "pentagon",   "ring",          "open square", "open diamond", "open triangle",
    "open wedge", "open pentagon", "plus",        "star"};

}  // namespace

std::string mark_colour(std::size_t mark) {
  if (mark >= kMarks) throw Fault("there are {} marks, and mark {} was asked for", kMarks, mark);
  const int colour = kColours[mark % kColours.size()];
  const double shade = kShades[mark / kColours.size()];
  int mixed = 0;
  for (const int shift : {16, 8, 0}) {
    const int part = (colour >> shift) & 0xFF;
    const double to = shade > 0 ? 255 : 0;
    mixed |= static_cast<int>(std::lround(part + std::abs(shade) * (to - part))) << shift;
  }
  char text[8];
  std::snprintf(text, sizeof text, "#%06X", static_cast<unsigned>(mixed));
  return text;
}

std::string mark_shape(std::size_t mark) {
  if (mark >= kMarks) throw Fault("there are {} marks, and mark {} was asked for", kMarks, mark);
  if (mark < kShapes.size()) return kShapes[mark];
  const auto letter = static_cast<char>(mark - kShapes.size());
  return std::string(1, static_cast<char>(letter < 26 ? 'A' + letter : 'a' + (letter - 26)));
}

}  // namespace draftlab
