// Ratios of sums in bins, a series at a time, with intervals from resampled prompts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/report/statistics.h"

namespace draftlab {

class Bins {
 public:
  Bins(std::size_t series, std::size_t bins) : bins_(bins), cells_(series * bins) {}

  std::size_t series() const { return cells_.size() / bins_; }
  std::size_t bins() const { return bins_; }
  // Where a value belongs: a bin of a series, and the prompt that it was measured on.
  struct Place {
    std::size_t series, bin;
    int prompt;
  };
  void add(const Place& at, double above, double below = 1) {
    auto& sums = cells_[at.series * bins_ + at.bin][at.prompt];
    sums.first += above;
    sums.second += below;
  }
  bool empty(std::size_t series, std::size_t bin) const {
    return cells_[series * bins_ + bin].empty();
  }
  bool empty(std::size_t series) const;
  bool empty() const;
  std::size_t prompts() const;  // Returns the number of prompts of the bin that has the most.
  Estimate at(std::size_t series, std::size_t bin) const;
  // A block a series for gnuplot: "x value low high" a line; series without data have a block too,
  // so that indices stay.
  std::string table(const std::vector<std::string>& names, const std::vector<double>& x) const;

 private:
  std::size_t bins_;
  std::vector<std::map<int, std::pair<double, double>>> cells_;
};

// Which series a panel draws, and how: "lc rgb '#0072B2' pt 7".
struct DrawnSeries {
  std::size_t series;
  std::string style;
};

// Commands that draw the blocks of `file`: lines with points, and bands for the intervals.
std::string curves(const std::string& file, const Bins& bins, const std::vector<DrawnSeries>& drawn,
                   const std::string& more = "");

}  // namespace draftlab
