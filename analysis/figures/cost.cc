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

bool spent(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double v) { return v > 0; });
}

// The parts that anything was spent on.
std::vector<Bar> bars_of(const PlotData& data) {
  std::vector<Bar> bars;
  const std::vector<double> nothing(data.series(), 0),
      seconds = means(data, data.frame.numbers("sample_seconds"));
  for (const std::string& whose : {std::string(), std::string("drafter_")}) {
    for (const std::string& kind : kDrawnKinds) {
      const bool calls = kind != "aux";  // The kind `aux` costs no forward of a model.
      bars.push_back(
          {(whose.empty() ? "" : "draft model: ") + kind,
           calls ? means(data, data.frame.numbers("sample_" + whose + "nfe_" + kind)) : nothing,
           scaled(means(data, data.frame.numbers("sample_" + whose + "ns_" + kind)), 1e-9)});
    }
  }
  bars.push_back(
      {"outside the models", nothing, means(data, data.frame.numbers("sample_own_seconds"))});
  for (Bar& bar : bars)
    for (std::size_t s = 0; s < data.series(); ++s)
      if (!std::isfinite(seconds[s])) bar.seconds[s] = kNotMeasured;
  std::erase_if(bars, [](const Bar& bar) { return !spent(bar.forwards) && !spent(bar.seconds); });
  if (bars.empty())
    throw DataError("the figure 'cost' needs counts of forwards, and the traces hold none");
  return bars;
}

// The rows' names as tics, the first series on top, and the longest of them.
struct RowNames {
  std::string tics;
  std::size_t longest = 4;
  RowNames(const std::vector<std::string>& names, std::size_t most) {
    for (std::size_t s = 0; s < names.size(); ++s) {
      const std::string name = shortened(names[s], most);
      longest = std::max(longest, characters(name));
      tics += (s ? ", " : "") + gnuplot_text(name) + " " + std::to_string(names.size() - 1 - s);
    }
  }
};

// The table of stacked bars: a block a part, a row a series, from where to where.
std::string table_of(const std::vector<Bar>& bars, std::vector<double> Bar::*values,
                     AxisRange& range) {
  std::vector<double> sums((bars[0].*values).size(), 0);
  std::string table;
  for (std::size_t p = 0; p < bars.size(); ++p) {
    table += (p ? "\n\n" : "") + std::string("# ") + bars[p].name + "\n# row from to\n";
    for (std::size_t s = 0; s < sums.size(); ++s) {
      const double value = (bars[p].*values)[s];
      const bool known = std::isfinite(value);
      table += std::to_string(sums.size() - 1 - s) + " " +
               (known ? number_text(sums[s]) + " " + number_text(sums[s] + value) : "NaN NaN") +
               "\n";
      if (known) sums[s] += value;
    }
  }
  range.add(0);
  for (const double sum : sums) range.add(sum);
  return table;
}

std::string commands_of(const std::string& file, std::size_t parts, std::size_t rows,
                        const std::string& tics) {
  std::string commands = "set yrange [-0.6:" + number_text(static_cast<double>(rows) - 0.4) +
                         "]\nunset grid\nset grid xtics lc rgb '#DDDDDD' lt 1 lw 0.6\nset ytics (" +
                         tics + ")\nplot ";
  for (std::size_t p = 0; p < parts; ++p)
    commands += (p ? ", \\\n  " : "") + gnuplot_text(file) + " index " + std::to_string(p) +
                " using (0.5*($2+$3)):1:2:3:($1-0.34):($1+0.34) with boxxyerror " + ink_style(p) +
                " fs solid noborder";
  return commands;
}

}  // namespace

Picture cost_figure(const PlotData& data) {
  const std::vector<Bar> bars = bars_of(data);
  const bool narrow = data.request.width == PageWidth::single_column;
  const RowNames rows(data.names(), narrow ? 26 : 44);
  const std::string refused = times_refused(data.frame);
  const bool times = refused.empty() && std::any_of(bars.begin(), bars.end(), [](const Bar& bar) {
                       return spent(bar.seconds);
                     });
  Sheet sheet("cost", {.across = times ? 2u : 1u,
                       .panel_height = 56 + 13 * static_cast<int>(data.series()),
                       .left = 14 + static_cast<int>(4.4 * static_cast<double>(rows.longest)),
                       .width = data.request.width});
  std::vector<LegendEntry> legend;
  for (std::size_t p = 0; p < bars.size(); ++p)
    legend.push_back({bars[p].name, ink_style(p) + " pt 5"});
  sheet.legend(legend);
  const auto panel = [&](const std::string& kind, const std::string& title,
                         const std::string& label, std::vector<double> Bar::*values) {
    const std::string file = "cost_" + kind + ".dat";
    AxisRange range;
    sheet.data(file, table_of(bars, values, range));
    sheet.panel(
        title, label, "",
        range.commands('x', false, 5) + commands_of(file, bars.size(), data.series(), rows.tics));
  };
  panel("forwards", "function evaluations", "a sample", &Bar::forwards);
  if (times) panel("seconds", "wall time", "seconds a sample", &Bar::seconds);
  return sheet.picture(std::string("Means a sample. ") +
                       (refused.empty() ? "" : times_note(refused) + " ") +
                       sampling_note(data, prompts_of(data), "no intervals"));
}

}  // namespace draftlab
