#include "analysis/figures/bins.h"

#include <algorithm>
#include <cmath>

#include "analysis/figures/script_text.h"

namespace draftlab {
namespace {

// A curve is interrupted where more than this share of the bins in a row is empty: a band across
// them would claim what nobody saw.
constexpr double kWidestGap = 1.0 / 6;

// They are drawn anew for each bin, and pictures show two digits.
constexpr Bootstrap kDraws = {500, 1};

}  // namespace

bool Bins::empty(std::size_t series) const {
  for (std::size_t bin = 0; bin < bins_; ++bin)
    if (!empty(series, bin)) return false;
  return true;
}

bool Bins::empty() const {
  return std::all_of(cells_.begin(), cells_.end(), [](const auto& cell) { return cell.empty(); });
}

std::size_t Bins::prompts() const {
  std::size_t most = 0;
  for (const auto& cell : cells_) most = std::max(most, cell.size());
  return most;
}

Estimate Bins::at(std::size_t series, std::size_t bin) const {
  std::vector<std::vector<double>> columns(2);
  for (const auto& [prompt, sums] : cells_[series * bins_ + bin]) {
    columns[0].push_back(sums.first);
    columns[1].push_back(sums.second);
  }
  return cluster_bootstrap(
      columns, [](std::span<const double> sums) { return sums[0] / sums[1]; }, 0.95, kDraws);
}

std::string Bins::table(const std::vector<std::string>& names, const std::vector<double>& x) const {
  std::string text;
  for (std::size_t series = 0; series < names.size(); ++series) {
    text += (series ? "\n\n" : "") + std::string("# ") + names[series] + "\n# x value low high\n";
    std::size_t next = 0;  // The bin behind the last one that was not empty.
    for (std::size_t bin = 0; bin < bins_; ++bin) {
      if (empty(series, bin)) continue;
      const std::size_t gap = bin - next;
      if (next > 0 && static_cast<double>(gap) > kWidestGap * static_cast<double>(bins_))
        text += "\n";
      text += number_text(x[bin]) + " " + estimate_text(at(series, bin)) + "\n";
      next = bin + 1;
    }
    if (empty(series)) text += "NaN NaN NaN NaN\n";
  }
  return text;
}

std::string curves(const std::string& file, const Bins& bins, const std::vector<DrawnSeries>& drawn,
                   const std::string& more) {
  std::string bands, lines;
  for (const DrawnSeries& one : drawn) {
    if (bins.empty(one.series)) continue;
    const std::string block = gnuplot_text(file) + " index " + std::to_string(one.series);
    const std::string colour = ink_of(one.style);
    bands += block + " using 1:3:4 with filledcurves " + colour +
             " fs transparent solid 0.15 noborder, ";
    lines += block + " using 1:2 with linespoints " + one.style + " ps 0.5 lw 1.4, ";
  }
  const std::string all = bands + lines + more;
  if (all.empty())
    return "set label 903 'not recorded' at graph 0.5,0.5 center\nplot NaN\nunset label 903";
  return "plot " + (all.ends_with(", ") ? all.substr(0, all.size() - 2) : all);
}

}  // namespace draftlab
