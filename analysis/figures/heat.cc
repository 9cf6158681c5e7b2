// One quantity over two axes of a sweep.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/figures/figures.h"
#include "analysis/report/report.h"
#include "analysis/report/words.h"
#include "core/base/error.h"
#include "core/base/table.h"

namespace draftlab {
namespace {

constexpr double kSmallChar = 4.1;  // The width of a small character, in points.

// Says whether two keys span a map: one of them does not follow from the other.
bool span(const PlotData& data, const std::string& a, const std::string& b) {
  std::set<std::pair<std::string, std::string>> cells;
  for (std::size_t arm = 0; arm < data.frame.arms().size(); ++arm) {
    const std::string x = data.frame.key(static_cast<int>(arm), a),
                      y = data.frame.key(static_cast<int>(arm), b);
    if (!x.empty() && !y.empty()) cells.insert({x, y});
  }
  return cells.size() > std::max(values_of(data.frame, a).size(), values_of(data.frame, b).size());
}

// The two keys with most values that span a map, seeds left out.
std::vector<std::string> axes_of(const PlotData& data) {
  if (!data.request.axes.empty()) {
    if (data.request.axes.size() != 2) throw UsageError("--axes takes two config keys, KEY,KEY");
    return data.request.axes;
  }
  std::vector<std::string> keys = swept_keys(data.frame);
  // Over seeds nothing is learnt: their arms are taken together.
  std::erase_if(keys, [&](const std::string& key) {
    return is_seed(key) || values_of(data.frame, key).size() < 2;
  });
  std::stable_sort(keys.begin(), keys.end(), [&](const std::string& a, const std::string& b) {
    return values_of(data.frame, a).size() > values_of(data.frame, b).size();
  });
  for (std::size_t a = 0; a < keys.size(); ++a)
    for (std::size_t b = a + 1; b < keys.size(); ++b)
      if (span(data, keys[a], keys[b])) return {keys[a], keys[b]};
  throw DataError("the figure 'heat' needs a sweep over two keys, and the arms of these traces {}",
                  keys.empty()       ? "differ in none"
                  : keys.size() == 1 ? "differ in '" + keys[0] + "' alone"
                                     : "have one value of each key for every value of another");
}

// The cells of the map: the columns and rows that hold any, and their values.
struct Map {
  std::vector<std::string> keys, xs, ys;
  std::map<std::pair<std::string, std::string>, const ReportCell*> cells = {};
  double low = INFINITY, high = -INFINITY;
  std::size_t prompts = 0;
  std::string without = {};  // The arms that lack one of the keys.

  const ReportCell* at(std::size_t x, std::size_t y) const {
    const auto found = cells.find({xs[x], ys[y]});
    const bool known = found != cells.end() && std::isfinite(found->second->value.value);
    return known ? found->second : nullptr;
  }
};

Map map_of(const PlotData& data, const Report& report, const Metric& quantity,
           const std::vector<std::string>& keys) {
  Map map{.keys = keys,
          .xs = values_of(data.frame, keys[0]),
          .ys = values_of(data.frame, keys[1]),
          .cells = {},
          .without = {}};
  if (map.xs.empty() || map.ys.empty())
    throw DataError("the figure 'heat' found no arm with the key '{}'",
                    map.xs.empty() ? keys[0] : keys[1]);
  for (const Report::Group& group : report.groups) {
    if (group.keys[0].empty() || group.keys[1].empty())
      map.without += (map.without.empty() ? "not shown: " : "; ") +
                     value_words(keys[0], group.keys[0], keys) + ", " +
                     value_words(keys[1], group.keys[1], keys);
    else
      map.cells[{group.keys[0], group.keys[1]}] = &group.cell(quantity);
  }
  // Rows and columns that no arm with both keys has take no room.
  const auto unused = [&](std::size_t k) {
    return [&map, k](const std::string& value) {
      return std::none_of(map.cells.begin(), map.cells.end(), [&](const auto& cell) {
        return (k == 0 ? cell.first.first : cell.first.second) == value;
      });
    };
  };
  std::erase_if(map.xs, unused(0)), std::erase_if(map.ys, unused(1));
  for (const auto& [place, cell] : map.cells) {
    if (!std::isfinite(cell->value.value)) continue;
    map.low = std::min(map.low, cell->value.value),
    map.high = std::max(map.high, cell->value.value);
    map.prompts = std::max(map.prompts, static_cast<std::size_t>(cell->prompts));
  }
  if (map.low > map.high)
    throw DataError("the figure 'heat' shows {}, and no arm has it; choose another with --score",
                    quantity.name);
  return map;
}

std::string table_of(const Map& map, const std::string& label) {
  std::string table =
      "# " + label + ", low, high, column, row, dark, " + map.keys[0] + ", " + map.keys[1] + "\n";
  for (std::size_t y = 0; y < map.ys.size(); ++y) {
    for (std::size_t x = 0; x < map.xs.size(); ++x) {
      const ReportCell* const cell = map.at(x, y);
      if (!cell) continue;
      const double value = cell->value.value,
                   share = map.high > map.low ? (value - map.low) / (map.high - map.low) : 0.5;
      table += estimate_text(cell->value) + " " + std::to_string(x) + " " + std::to_string(y) +
               " " + (share < 0.55 ? "1 " : "0 ") + map.xs[x] + " " + map.ys[y] + "\n";
    }
  }
  return table;
}

// Tics that are words, and the longest of them.
struct WordTics {
  std::string text;
  std::size_t longest = 1;
  WordTics(const std::vector<std::string>& words, std::size_t most) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string word = shortened(words[i], most);
      text += (i ? ", " : "") + gnuplot_text(word) + " " + std::to_string(i);
      longest = std::max(longest, characters(word));
    }
  }
};

// "'%.2f'": in narrow cells numbers have fewer digits.
std::string number_format(const Map& map, int digits, double cell_width) {
  const double longest = std::max(std::abs(map.low), std::abs(map.high));
  while (digits > 0 &&
         static_cast<double>(fixed(longest, digits).size() + 1) > cell_width / kSmallChar)
    --digits;
  return "'%." + std::to_string(digits) + "f'";
}

// "[-0.5:N]" around cells that stand at 0, 1, ...
std::string around(std::size_t cells) {
  return "[-0.5:" + number_text(static_cast<double>(cells) - 0.5) + "]\n";
}

}  // namespace

Picture heat_figure(const PlotData& data) {
  const std::vector<std::string> keys = axes_of(data);
  const Metric& quantity =
      data.quantities.find(data.request.score.empty() ? "tokens_per_forward" : data.request.score);
  const AxisQuantity shade{&quantity};
  const Report report = report_of(data, {"heat", {&quantity}, keys});
  const Map map = map_of(data, report, quantity, keys);
  const WordTics x_tics(map.xs, 14), y_tics(map.ys, 24);
  // One value alone stands in the middle of the colours.
  const double spread = map.high > map.low ? 0 : 0.5;
  Sheet::Layout layout{
      .panel_height = std::clamp(26 * static_cast<int>(map.ys.size()), 60, 600) + 52,
      .left = 36 + static_cast<int>(4.7 * static_cast<double>(y_tics.longest)),
      .right = 64,
      .width = data.request.width};
  const double columns = static_cast<double>(map.xs.size()),
               words_wide = 4.7 * (x_tics.longest + 1);
  const bool crowded = words_wide * columns > Sheet("heat", layout).plot_width();
  if (crowded) {
    const int more = static_cast<int>(0.6 * words_wide);  // Words that lean need room below.
    layout.below += more, layout.panel_height += more;
  }
  Sheet sheet("heat", layout);
  sheet.title(map.without);
  sheet.data("heat.dat", table_of(map, shade.label()));
  const std::string format = number_format(map, quantity.digits, sheet.plot_width() / columns);
  const auto numbers = [&](const std::string& dark, const std::string& ink) {
    return "'' using 4:5:($6 == " + dark + " ? sprintf(" + format +
           ", $1) : '') with labels font small tc rgb '" + ink + "'";
  };
  sheet.panel(shade.label(), key_words(keys[0], keys), key_words(keys[1], keys),
              std::string("unset logscale\nset xtics ") +
                  (crowded ? "rotate by 35 right" : "norotate") +
                  "\nunset grid\nset palette defined (0 '#440154', 0.25 '#3B528B', 0.5 '#21918C', "
                  "0.75 '#5EC962', 1 '#FDE725')\nset cbrange [" +
                  number_text(map.low - spread) + ":" + number_text(map.high + spread) +
                  "]\nset xtics (" + x_tics.text + ")\nset ytics (" + y_tics.text +
                  ")\nset xrange " + around(map.xs.size()) + "set yrange " + around(map.ys.size()) +
                  "plot 'heat.dat' using 4:5:(0.48):(0.48):1 with boxxyerror lc palette fs solid "
                  "noborder, \\\n  " +
                  numbers("1", "white") + ", \\\n  " + numbers("0", "black"));
  return sheet.picture(
      "Arms that share both values are taken together. " +
      sampling_note(data, map.prompts, "intervals in heat.dat: 95 %, from resampled prompts"));
}

}  // namespace draftlab
