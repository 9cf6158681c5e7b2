#include "analysis/figures/bins.h"

#include <algorithm>
#include <cmath>

#include "analysis/figures/sheet.h"

namespace draftlab {
namespace {

constexpr Bootstrap kDraws = {500, 1};  // a bin: pictures show two digits

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
    for (std::size_t bin = 0; bin < bins_; ++bin) {
      if (!empty(series, bin))
        text += number_text(x[bin]) + " " + estimate_text(at(series, bin)) + "\n";
    }
    if (empty(series)) text += "NaN NaN NaN NaN\n";
  }
  return text;
}

std::vector<std::string> marked_empty(std::vector<std::string> names, const Bins& bins) {
  for (std::size_t series = 0; series < names.size(); ++series)
    if (bins.empty(series)) names[series] += " (none)";
  return names;
}

std::string curves(const std::string& file, const Bins& bins, const std::string& more) {
  std::string bands, lines;
  for (std::size_t series = 0; series < bins.series(); ++series) {
    if (bins.empty(series)) continue;
    const std::string block = gnuplot_text(file) + " index " + std::to_string(series);
    bands += block + " using 1:3:4 with filledcurves lc rgb '" + colour(series) +
             "' fs transparent solid 0.15 noborder, ";
    lines += block + " using 1:2 with linespoints " + line_style(series) + " ps 0.6 lw 1.6, ";
  }
  const std::string all = bands + lines + more;
  return "plot " + (all.ends_with(", ") ? all.substr(0, all.size() - 2) : all);
}

}  // namespace draftlab
