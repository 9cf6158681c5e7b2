// The softmax of one row of attention scores.
#pragma once

#include <cstdint>

namespace draftlab {

// The score of what a row does not see.
constexpr float kUnseen = -3e38f;

// Computes e^(row - most) in place and returns its sum: a softmax that is yet to be divided. `most`
// is the largest of the row.
float soften_row(float* row, std::int64_t length, float most);
// Computes the softmax of one row of scores, in place.
void normalise_row(float* row, std::int64_t length);

}  // namespace draftlab
