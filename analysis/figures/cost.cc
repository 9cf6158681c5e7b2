// Where the forwards and the seconds go, by kind, stacked.
#include <algorithm>
#include <cmath>

#include "analysis/figures/figures.h"
#include "analysis/frame/timing.h"
#include "core/base/error.h"

namespace draftlab {
namespace {

const std::vector<std::string> kDrawnKinds = {"draft", "verify", "commit", "prefill", "aux"};

// Mean of a column a sample, for every series; NaN where nothing was measured.
std::vector<double> means(const PlotData& data, const std::vector<double>& values) {
  std::vector<double> sums(data.series(), 0), counts(data.series(), 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int series = data.series_of(static_cast<std::int64_t>(i));
    if (series < 0 || std::isnan(values[i])) continue;
    sums[series] += values[i];
    counts[series] += 1;
  }
  for (std::size_t s = 0; s < sums.size(); ++s)
    sums[s] = counts[s] > 0 ? sums[s] / counts[s] : kNotMeasured;
  return sums;
}

std::vector<double> scaled(std::vector<double> values, double by) {
  for (double& value : values) value *= by;
  return values;
}

struct Bar {
  std::string name;
  std::vector<double> forwards, seconds;  // Each of these is a series.
};

}  // namespace

Picture cost_figure(const PlotData& data) {
  const std::size_t n = data.series();
  std::vector<Bar> parts;
  const std::vector<double> nothing(n, 0),
      seconds = means(data, data.frame.numbers("sample_seconds"));
  for (const std::string& whose : {std::string(), std::string("drafter_")}) {
    for (const std::string& kind : kDrawnKinds) {
      const bool calls = kind != "aux";  // The kind `aux` costs no forward of a model.
      parts.push_back(
          {(whose.empty() ? "" : "draft model: ") + kind,
           calls ? means(data, data.frame.numbers("sample_" + whose + "nfe_" + kind)) : nothing,
           scaled(means(data, data.frame.numbers("sample_" + whose + "ns_" + kind)), 1e-9)});
    }
  }
  const auto timed = [&](std::size_t series) { return std::isfinite(seconds[series]); };
  parts.push_back(
      {"outside the models", nothing, means(data, data.frame.numbers("sample_own_seconds"))});
  for (Bar& part : parts)
    for (std::size_t s = 0; s < n; ++s)
      if (!timed(s)) part.seconds[s] = kNotMeasured;
  const auto spent = [](const std::vector<double>& values) {
    return std::any_of(values.begin(), values.end(), [](double v) { return v > 0; });
  };
  std::erase_if(parts,
                [&](const Bar& part) { return !spent(part.forwards) && !spent(part.seconds); });
  if (parts.empty())
    throw DataError("the figure 'cost' needs counts of forwards, and the traces hold none");

  if (parts.size() > kColours)
    throw Fault("the figure 'cost' has more kinds than there are colours");
  const std::vector<std::string> names_of = data.names();
  const bool narrow = data.request.width == PageWidth::single_column;
  const std::size_t longest_name = narrow ? 26 : 44;
  std::size_t longest = 4;
  std::string tics;
  for (std::size_t s = 0; s < n; ++s) {
    const std::string name = shortened(names_of[s], longest_name);
    longest = std::max(longest, name.size());
    tics += (s ? ", " : "") + gnuplot_text(name) + " " + std::to_string(n - 1 - s);
  }
  const int left = 14 + static_cast<int>(4.4 * static_cast<double>(longest));
  const std::string refused = times_refused(data.frame);
  const bool times =
      refused.empty() &&
      std::any_of(parts.begin(), parts.end(), [&](const Bar& part) { return spent(part.seconds); });
  Sheet sheet("cost", {.across = times ? 2u : 1u,
                       .panel_height = 56 + 13 * static_cast<int>(n),
                       .left = left,
                       .width = data.request.width});
  std::vector<LegendEntry> legend;
  for (std::size_t p = 0; p < parts.size(); ++p)
    legend.push_back({parts[p].name, "lc rgb '" + colour(p) + "' pt 5"});
  sheet.legend(legend);
  const auto panel = [&](const std::string& file, const std::string& title,
                         const std::string& label, std::vector<double> Bar::*values) {
    AxisRange range;
    range.add(0);
    for (std::size_t s = 0; s < n; ++s) {
      double sum = 0;
      for (const Bar& part : parts) sum += std::isfinite((part.*values)[s]) ? (part.*values)[s] : 0;
      range.add(sum);
    }
    std::string table, commands = range.commands('x', false, 5) +
                                  "set yrange [-0.6:" + number_text(static_cast<double>(n) - 0.4) +
                                  "]\nunset grid\nset grid xtics lc rgb "
                                  "'#DDDDDD' lt 1 lw 0.6\nset ytics (" +
                                  tics + ")\nplot ";
    std::vector<double> sums(n, 0);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      table += (p ? "\n\n" : "") + std::string("# ") + parts[p].name + "\n# row from to\n";
      for (std::size_t s = 0; s < n; ++s) {
        const double value = (parts[p].*values)[s];
        table += std::to_string(n - 1 - s) + " " +
                 (std::isfinite(value) ? number_text(sums[s]) + " " + number_text(sums[s] + value)
                                       : "NaN NaN") +
                 "\n";
        if (std::isfinite(value)) sums[s] += value;
      }
      commands += (p ? ", \\\n  " : "") + gnuplot_text(file) + " index " + std::to_string(p) +
                  " using (0.5*($2+$3)):1:2:3:($1-0.34):($1+0.34) with boxxyerror lc rgb '" +
                  colour(p) + "' fs solid noborder";
    }
    sheet.data(file, table);
    sheet.panel(title, label, "", commands);
  };
  panel("cost_forwards.dat", "function evaluations", "a sample", &Bar::forwards);
  if (times) panel("cost_seconds.dat", "wall time", "seconds a sample", &Bar::seconds);
  std::size_t prompts = 0;
  for (const Frame::Sample& sample : data.frame.samples())
    prompts = std::max(prompts, static_cast<std::size_t>(sample.prompt) + 1);
  return sheet.picture(std::string("Means a sample. ") +
                       (refused.empty() ? "" : times_note(refused) + " ") +
                       sampling_note(data, prompts, "no intervals"));
}

}  // namespace draftlab
