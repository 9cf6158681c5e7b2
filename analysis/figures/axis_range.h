// The range of a figure's axis, and the tics on it, in gnuplot's words.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/statistics.h"

namespace draftlab {

// The range of an axis, in which all numbers that were added are in sight; shares go from 0 to 1.
class AxisRange {
 public:
  void add(double value);
  void add(const Estimate& estimate);
  // The range ends where the numbers end, whether or not 0 or 1 is near.
  void end_closely() { closely_ = true; }
  bool within_a_share() const;  // Says whether all numbers lie between 0 and 1.
  // Returns "set xrange [..]" and tics that do not collide, at most `most` of them. Between whole
  // `values` there are no halves. Where the largest value is eight times the smallest, as of powers
  // of two, they stand on a logarithmic axis.
  std::string commands(char axis, bool share, std::size_t most,
                       const std::vector<double>& values = {}) const;

 private:
  double low_ = 0, high_ = 0;
  bool any_ = false, closely_ = false;
};

// Tics below an axis that counts from 1: 1, and round numbers up to the last.
std::string count_tics(std::size_t last);

}  // namespace draftlab
