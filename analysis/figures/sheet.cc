#include "analysis/figures/sheet.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

namespace draftlab {
namespace {

// The room above a panel for its title, and below it for tics and label.
constexpr int kAbove = 18, kBelow = 34;
constexpr int kSecondLine = 10;  // The height of a title's second line.
constexpr int kLegendRow = 13, kTitleRow = 16;
constexpr double kChar = 4.7;       // The width of a character in a legend, in points.
constexpr double kTitleChar = 4.2;  // The same in a title.
constexpr int kNarrowest = 150;     // The narrowest panel, in points.

std::size_t columns_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

// Text in gnuplot's words. One that is wider than `most` characters is divided behind a colon, or
// at a space, and stands in two lines.
std::string two_lines(const std::string& text, std::size_t most) {
  if (columns_of(text) <= most) return gnuplot_text(text);
  const std::size_t colon = text.find(": ");
  const std::size_t space = text.rfind(' ', most);
  const std::size_t at = colon != std::string::npos ? colon + 1 : space;
  if (at == std::string::npos) return gnuplot_text(shortened(text, most));
  return gnuplot_text(shortened(text.substr(0, at), most)) + ".\"\\n\"." +
         gnuplot_text(shortened(text.substr(at + 1), most));
}

// One, two or five times a power of ten, so that at most `most` steps cover the length.
double nice_step(double length, std::size_t most) {
  const double rough = length / static_cast<double>(most),
               power = std::pow(10, std::floor(std::log10(rough)));
  for (const double times : {1.0, 2.0, 5.0})
    if (times * power >= rough * (1 - 1e-9)) return times * power;
  return 10 * power;
}

}  // namespace

std::string colour(std::size_t series) {
  static const char* const colours[kColours] = {"#0072B2", "#D55E00", "#009E73", "#E69F00",
                                                "#56B4E9", "#CC79A7", "#7F7F7F", "#F0E442"};
  return colours[series % kColours];
}

int marker(std::size_t series) {
  static const int markers[kMarkers] = {7, 5, 9, 13, 11, 15, 6, 4};
  return markers[series % kMarkers];
}

std::string point_style(std::size_t series) {
  return "lc rgb '" + colour(series) + "' pt " + std::to_string(marker(series));
}

std::string gnuplot_text(const std::string& text) {
  std::string result = "'";
  for (char c : text) {
    if (c == '\'')
      result += "''";
    else
      result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result + "'";
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return "NaN";
  std::ostringstream out;
  out.precision(7);
  out << value;
  return out.str();
}

std::string estimate_text(const Estimate& estimate) {
  return number_text(estimate.value) + " " + number_text(estimate.interval.low) + " " +
         number_text(estimate.interval.high);
}

Estimate bounded(const Estimate& estimate) {
  const bool known = std::isfinite(estimate.interval.low) && std::isfinite(estimate.interval.high);
  return {estimate.value, known ? estimate.interval : Interval{estimate.value, estimate.value}};
}

std::string shortened(const std::string& text, std::size_t most) {
  if (columns_of(text) <= most) return text;
  std::size_t end = 0;
  for (std::size_t columns = 0; end < text.size(); ++end) {
    if ((static_cast<unsigned char>(text[end]) & 0xC0) != 0x80 && ++columns >= most) break;
  }
  return text.substr(0, end) + "\u2026";
}

void AxisRange::add(double value) {
  if (!std::isfinite(value)) return;
  low_ = any_ ? std::min(low_, value) : value;
  high_ = any_ ? std::max(high_, value) : value;
  any_ = true;
}

void AxisRange::add(const Estimate& estimate) {
  add(estimate.value), add(estimate.interval.low), add(estimate.interval.high);
}

bool AxisRange::within_a_share() const { return any_ && low_ >= 0 && high_ <= 1; }

std::string AxisRange::commands(char axis, bool share, std::size_t most,
                                const std::vector<double>& values) const {
  const std::string name(1, axis);
  const auto range = [&](double low, double high) {
    return "set " + name + "range [" + number_text(low) + ":" + number_text(high) + "]\n";
  };
  std::string text = "unset logscale " + name + "\n";
  if (share) return text + range(0, 1) + "set " + name + "tics 0,0.2,1\n";
  if (values.size() > 1 && values.front() > 0 && values.back() >= 8 * values.front()) {
    const double first = values.front() / 1.25, last = values.back() * 1.25,
                 apart = std::log(last / first) / static_cast<double>(most);
    std::string tics;
    double before = 0;
    for (const double value : values) {
      // Its label would touch the one before.
      if (before > 0 && std::log(value / before) < apart) continue;
      tics += (tics.empty() ? "" : ", ") + number_text(value);
      before = value;
    }
    return "set logscale " + name + " 2\n" + range(first, last) + "set " + name + "tics (" + tics +
           ")\n";
  }
  double low = low_, high = high_;
  if (!any_) low = 0, high = 1;
  const double length = high > low ? high - low : std::max(std::abs(high), 1.0) * 0.2;
  const double pad = high > low ? 0.07 * length : 0.5 * length;
  const bool from_zero = low >= 0 && low <= 0.15 * high;
  low = from_zero ? 0 : low - pad, high += pad;
  double step = nice_step(high - low, most);
  // Numbers of many digits stand side by side below the axis, so fewer of them fit.
  if (const std::size_t digits = number_text(step).size(); axis == 'x' && digits > 4)
    step = nice_step(high - low, std::max<std::size_t>(2, most * 3 / digits));
  const auto is_whole = [](double value) { return value == std::floor(value); };
  if (!values.empty() && std::all_of(values.begin(), values.end(), is_whole))
    step = std::max(step, 1.0);
  return text + range(low, high) + "set " + name + "tics " + number_text(step) + "\n";
}

std::string count_tics(std::size_t last) {
  const auto step =
      static_cast<std::size_t>(std::max(1.0, nice_step(static_cast<double>(last), 8)));
  std::string tics = "1";
  for (std::size_t at = step; at <= last; at += step)
    if (at > 1) tics += ", " + std::to_string(at);
  return "set xtics (" + tics + ")\n";
}

Sheet::Sheet(std::string name, Layout layout) : name_(std::move(name)), layout_(layout) {}

int Sheet::width() const { return layout_.width == PageWidth::single_column ? 245 : 504; }

std::size_t Sheet::columns() const {
  const int least = kNarrowest + std::max(0, layout_.left - 42);
  const auto most = static_cast<std::size_t>(std::max(1, width() / least));
  return std::min(std::max<std::size_t>(1, layout_.across), most);
}

int Sheet::plot_width() const {
  return width() / static_cast<int>(columns()) - layout_.left - layout_.right;
}

void Sheet::panel(const std::string& title, const std::string& x_label, const std::string& y_label,
                  const std::string& commands) {
  panels_.push_back({title, x_label, y_label, commands, row_begins_});
  row_begins_ = false;
}

Picture Sheet::picture(const std::string& caption) const {
  const int across = static_cast<int>(columns()), panel_width = width() / across;
  // The row and the column of each panel.
  std::vector<std::pair<int, int>> places;
  for (const Panel& panel : panels_) {
    auto [line, column] = places.empty() ? std::pair(0, -1) : places.back();
    const bool full = column + 1 == across || (panel.begins_row && !places.empty());
    places.emplace_back(full ? line + 1 : line, full ? 0 : column + 1);
  }
  const int rows = places.empty() ? 0 : places.back().first + 1;
  const auto title_width = static_cast<std::size_t>((panel_width - 4) / kTitleChar);
  const bool wide_titles = std::any_of(panels_.begin(), panels_.end(), [&](const Panel& panel) {
    return columns_of(panel.title) > title_width;
  });
  const int above = kAbove + (wide_titles ? kSecondLine : 0),
            panel_height = layout_.panel_height + (wide_titles ? kSecondLine : 0);
  const int top = title_.empty() ? 0 : kTitleRow;
  const int edge = 10;

  // Legend entries side by side as far as they fit, and in columns where they take several lines; a
  // heading begins a line.
  struct Placed {
    LegendEntry entry;
    double x;
    int row;
  };
  std::vector<LegendEntry> legend = legend_;
  std::vector<Placed> placed;
  int row = 0;
  double x = edge;
  std::vector<double> widths;
  for (LegendEntry& entry : legend) {
    entry.text = shortened(entry.text, static_cast<std::size_t>((width() - 2 * edge - 20) / kChar));
    widths.push_back(kChar * static_cast<double>(columns_of(entry.text)) +
                     (entry.heading ? 8 : 24));
  }
  const bool headed = std::any_of(legend.begin(), legend.end(),
                                  [](const LegendEntry& entry) { return entry.heading; });
  if (!headed && std::accumulate(widths.begin(), widths.end(), 0.0) > width() - 2 * edge)
    std::fill(widths.begin(), widths.end(), *std::max_element(widths.begin(), widths.end()));
  for (std::size_t i = 0; i < legend.size(); ++i) {
    const LegendEntry& shown = legend[i];
    const double wide = widths[i];
    if (!placed.empty() && (shown.heading || x + wide > width() - edge)) ++row, x = edge;
    placed.push_back({shown, x, row});
    x += wide;
  }
  const int legend_height = legend_.empty() ? 4 : (row + 1) * kLegendRow + 10;
  const int height = top + rows * panel_height + legend_height;
  const auto fx = [&](double points) { return number_text(points / width()); };
  // Places are counted from above.
  const auto fy = [&](double points) { return number_text(1 - points / height); };
  const auto size = [&](double unit) {
    return number_text(std::round(unit * width() * 1000) / 1000) + "," +
           number_text(std::round(unit * height * 1000) / 1000);
  };

  std::ostringstream out;
  out << "# gnuplot -e \"format='png'\" " << name_ << ".gp   or 'svg' or 'pdf', in this folder\n"
      << "if (!exists('format')) format = 'svg'\n"
      << "if (format eq 'png') {\n  set terminal pngcairo noenhanced size " << 3 * width() << ","
      << 3 * height << " font 'sans,6' fontscale 3 linewidth 2.4 pointscale 2.2\n  small = ',5.3'\n"
      << "} else { if (format eq 'pdf') {\n  set terminal pdfcairo noenhanced size "
      << size(1 / 72.0)
      << " font 'sans,8' fontscale 1 linewidth 1.2 pointscale 0.5\n  small = ',7'\n"
      << "} else {\n  set terminal svg noenhanced size " << width() << "," << height
      << " font 'sans,8' linewidth 0.9 background 'white'\n  small = ',7'\n} }\n"
      << "if (!exists('out')) out = '" << name_ << ".'.format\n"
      << "set output out\n"
      << "set encoding utf8\nset border 3 lc rgb '#444444'\nset tics nomirror out scale 0.5 font "
         "small\n"
         "set format '%h'\nset grid lc rgb '#DDDDDD' lt 1 lw 0.5\nunset key\nset style fill solid\n"
      << "set bars small\nset datafile missing 'NaN'\n"
      << "set multiplot\n";
  if (top > 0)
    out << "set label 900 " << gnuplot_text(title_) << " at screen " << fx(edge) << ","
        << fy(top * 0.55) << " left font small tc rgb '#444444'\n";
  for (std::size_t i = 0; i < placed.size(); ++i) {
    const double y = top + rows * panel_height + 6 + (placed[i].row + 0.5) * kLegendRow;
    const bool marked = !placed[i].entry.heading;
    out << "set label " << i + 1 << " " << gnuplot_text(placed[i].entry.text) << " at screen "
        << fx(placed[i].x + (marked ? 5 : 0)) << "," << fy(y) << " left ";
    if (marked) out << "point " << placed[i].entry.style << " ps 0.8 offset 0.9,-0.12";
    out << "\n";
  }
  for (std::size_t i = 0; i < panels_.size(); ++i) {
    const Panel& panel = panels_[i];
    const auto [line, column] = places[i];
    const int y = top + line * panel_height;
    out << "\n# " << panel.title << "\n"
        << "set lmargin at screen " << fx(column * panel_width + layout_.left)
        << "\nset rmargin at screen " << fx((column + 1) * panel_width - layout_.right)
        << "\nset tmargin at screen " << fy(y + above) << "\nset bmargin at screen "
        << fy(y + panel_height - kBelow) << "\n"
        << "set title " << two_lines(panel.title, title_width) << " offset 0,-0.6\nset xlabel "
        << gnuplot_text(panel.x_label) << " offset 0,0.5\nset ylabel "
        << gnuplot_text(panel.y_label) << " offset 0.8,0\n"
        << panel.commands << "\n";
    if (i == 0) out << "unset label\n";
  }
  out << "\nunset multiplot\nunset output\n";
  return {name_, out.str(), data_, caption};
}

}  // namespace draftlab
