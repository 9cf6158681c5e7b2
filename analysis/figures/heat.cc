// One quantity over two axes of a sweep.
#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/figures/figures.h"
#include "analysis/report/report.h"
#include "analysis/report/words.h"
#include "core/base/error.h"
#include "core/base/table.h"

namespace draftlab {
namespace {

constexpr double kSmallChar = 4.1;  // The width of a small character, in points.

// The two keys with most values.
std::vector<std::string> axes_of(const PlotData& data) {
  if (!data.request.axes.empty() && data.request.axes.size() != 2)
    throw UsageError("--axes takes two config keys, KEY,KEY");
  std::vector<std::string> keys = data.request.axes;
  if (keys.empty()) {
    keys = swept_keys(data.frame);
    std::erase_if(keys,
                  [&](const std::string& key) { return values_of(data.frame, key).size() < 2; });
    std::stable_sort(keys.begin(), keys.end(), [&](const std::string& a, const std::string& b) {
      return values_of(data.frame, a).size() > values_of(data.frame, b).size();
    });
  }
  if (keys.size() < 2)
    throw DataError(
        "the figure 'heat' needs a sweep over two keys, and the arms of these traces differ in {}",
        keys.empty() ? "none" : "'" + keys[0] + "' alone");
  keys.resize(2);
  return keys;
}

}  // namespace

Picture heat_figure(const PlotData& data) {
  const std::vector<std::string> keys = axes_of(data);
  std::vector<std::string> xs = values_of(data.frame, keys[0]), ys = values_of(data.frame, keys[1]);
  if (xs.empty() || ys.empty())
    throw DataError("the figure 'heat' found no arm with the key '{}'",
                    xs.empty() ? keys[0] : keys[1]);
  const Metric& quantity =
      data.quantities.find(data.request.score.empty() ? "tokens_per_forward" : data.request.score);
  const Reading shade{&quantity};
  const Report report = report_of(data, {"heat", {&quantity}, keys});
  std::map<std::pair<std::string, std::string>, const ReportCell*> cells;
  std::string without;  // The arms that lack one of the keys.
  for (const Report::Group& group : report.groups) {
    if (group.keys[0].empty() || group.keys[1].empty())
      without += (without.empty() ? "not shown: " : "; ") +
                 value_words(keys[0], group.keys[0], keys) + ", " +
                 value_words(keys[1], group.keys[1], keys);
    else
      cells[{group.keys[0], group.keys[1]}] = &group.cell(quantity);
  }
  // Rows and columns that no arm with both keys has take no room.
  const auto unused = [&](std::size_t k) {
    return [&cells, k](const std::string& value) {
      return std::none_of(cells.begin(), cells.end(), [&](const auto& cell) {
        return (k == 0 ? cell.first.first : cell.first.second) == value;
      });
    };
  };
  std::erase_if(xs, unused(0)), std::erase_if(ys, unused(1));
  double low = INFINITY, high = -INFINITY;
  std::size_t prompts = 0;
  for (const auto& [at, cell] : cells) {
    if (!std::isfinite(cell->value.value)) continue;
    low = std::min(low, cell->value.value), high = std::max(high, cell->value.value);
    prompts = std::max(prompts, static_cast<std::size_t>(cell->prompts));
  }
  if (low > high)
    throw DataError("the figure 'heat' shows {}, and no arm has it; choose another with --score",
                    quantity.name);
  std::string table = "# " + shade.label() + ", low, high, column, row, dark, " + keys[0] + ", " +
                      keys[1] + "\n",
              x_tics, y_tics;
  std::size_t longest = 3;
  for (std::size_t x = 0; x < xs.size(); ++x)
    x_tics += (x ? ", " : "") + gnuplot_text(shortened(xs[x], 14)) + " " + std::to_string(x);
  for (std::size_t y = 0; y < ys.size(); ++y) {
    y_tics += (y ? ", " : "") + gnuplot_text(shortened(ys[y], 24)) + " " + std::to_string(y);
    longest = std::max(longest, std::min<std::size_t>(ys[y].size(), 24));
    for (std::size_t x = 0; x < xs.size(); ++x) {
      const auto found = cells.find({xs[x], ys[y]});
      if (found == cells.end() || !std::isfinite(found->second->value.value)) continue;
      const double share = high > low ? (found->second->value.value - low) / (high - low) : 0.5;
      table += estimate_text(found->second->value) + " " + std::to_string(x) + " " +
               std::to_string(y) + " " + (share < 0.55 ? "1 " : "0 ") + xs[x] + " " + ys[y] + "\n";
    }
  }
  if (high == low) low -= 0.5, high += 0.5;
  const int left = 30 + static_cast<int>(4.7 * static_cast<double>(longest));
  Sheet sheet("heat", {.panel_height = std::clamp(26 * static_cast<int>(ys.size()), 60, 600) + 52,
                       .left = left,
                       .right = 64,
                       .width = data.request.width});
  sheet.title(without);
  std::size_t widest = 1;
  for (const std::string& x : xs) widest = std::max(widest, std::min<std::size_t>(x.size(), 14));
  const bool crowded =
      4.7 * static_cast<double>(widest + 1) * static_cast<double>(xs.size()) > sheet.plot_width();
  sheet.data("heat.dat", table);
  // In narrow cells numbers have fewer digits.
  const double room = sheet.plot_width() / static_cast<double>(xs.size()) / kSmallChar;
  const double longest_number = std::max(std::abs(low), std::abs(high));
  int digits = quantity.digits;
  while (digits > 0 && static_cast<double>(fixed(longest_number, digits).size() + 1) > room)
    --digits;
  const std::string format = "'%." + std::to_string(digits) + "f'";
  sheet.panel(
      shade.label(), key_words(keys[0], keys), key_words(keys[1], keys),
      std::string("unset logscale\nset xtics ") + (crowded ? "rotate by 35 right" : "norotate") +
          "\nunset grid\nset palette defined (0 '#440154', 0.25 '#3B528B', 0.5 '#21918C', 0.75 "
          "'#5EC962', 1 '#FDE725')\nset cbrange [" +
          number_text(low) + ":" + number_text(high) +
          "]\n"
          "set xtics (" +
          x_tics + ")\nset ytics (" + y_tics +
          ")\nset xrange [-0.5:" + number_text(static_cast<double>(xs.size()) - 0.5) +
          "]\n"
          "set yrange [-0.5:" +
          number_text(static_cast<double>(ys.size()) - 0.5) +
          "]\n"
          "plot 'heat.dat' using 4:5:(0.48):(0.48):1 with boxxyerror lc palette fs solid "
          "noborder, \\\n"
          "  '' using 4:5:($6 == 1 ? sprintf(" +
          format +
          ", $1) : '') with labels font small tc rgb 'white', \\\n"
          "  '' using 4:5:($6 == 1 ? '' : sprintf(" +
          format + ", $1)) with labels font small tc rgb 'black'");
  return sheet.picture(
      "Arms that share both values are taken together. " +
      sampling_note(data, prompts, "intervals in heat.dat: 95 %, from resampled prompts"));
}

}  // namespace draftlab
