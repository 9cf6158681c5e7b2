// The loops over a whole vocabulary: exponentials of logits, and what summarises probabilities.
#pragma once

#include <cstdint>

namespace draftlab {

// Returns the largest of x that is a number, and -inf where none is.
float largest(const float* x, std::int64_t size);

// Returns the sum of p, in whatever order is fast.
double total(const double* p, std::int64_t size);

// Computes p = exp(x - largest) and returns the sum.
double exponentials(const float* x, double largest, double* p, std::int64_t size);
// Returns the same sum, bit for bit, and keeps none of the exponentials.
double exponential_sum(const float* x, double largest, std::int64_t size);
// Returns the number `index` of the same exponentials, bit for bit.
double exponential_at(const float* x, double largest, std::int64_t size, std::int64_t index);

// Holds the first place of the largest of p, the largest and the second largest of p, the sum of
// squares, and the sum of p x where p is positive (x may be -inf elsewhere).
struct Moments {
  std::int64_t first = 0;
  double largest = -1, second = -1, squares = 0, mean = 0;
};

// Multiplies p, whose logits are x, by a factor and summarises it.
Moments scale(double* p, double factor, const float* x, std::int64_t size);

}  // namespace draftlab
