#include "analysis/figures/sheet.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace draftlab {
namespace {

constexpr int kAbove = 30, kBelow = 50;  // of a panel: title; tics and label
constexpr int kLegendRow = 20, kCaptionRow = 16;
constexpr double kLegendChar = 7.6, kCaptionChar = 6.0;

std::size_t columns_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!lines.back().empty() && columns_of(lines.back()) + 1 + columns_of(word) > width)
      lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

}  // namespace

std::string colour(std::size_t series) {
  static const char* const colours[] = {"#0072B2", "#D55E00", "#009E73", "#E69F00",
                                        "#56B4E9", "#CC79A7", "#000000", "#F0E442"};
  return colours[series % 8];
}

std::string point_style(std::size_t series) {
  static const int points[] = {7, 5, 9, 13, 11, 15};
  return "lc rgb '" + colour(series) + "' pt " + std::to_string(points[(series + series / 8) % 6]);
}

std::string line_style(std::size_t series) {
  return point_style(series) + " dt " + std::to_string(1 + series / 8 % 4);
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

Sheet::Sheet(std::string name, Layout layout) : name_(std::move(name)), layout_(layout) {}

void Sheet::legend(const std::vector<std::string>& series, Legend marks) {
  legend_ = series;
  marks_ = marks;
}

void Sheet::panel(const std::string& title, const std::string& x_label, const std::string& y_label,
                  const std::string& commands) {
  panels_.push_back({title, x_label, y_label, commands});
}

Picture Sheet::picture(const std::string& caption) const {
  const int width = layout_.columns * layout_.panel_width;
  const int rows = (static_cast<int>(panels_.size()) + layout_.columns - 1) / layout_.columns;
  std::size_t longest = 1;
  const auto most = static_cast<std::size_t>((width - 2 * layout_.right - 40) / kLegendChar);
  std::vector<std::string> legend;
  for (const std::string& series : legend_) legend.push_back(shortened(series, most));
  for (const std::string& series : legend) longest = std::max(longest, columns_of(series));
  const double entry = kLegendChar * static_cast<double>(longest) + 40;
  const int across = std::max(1, static_cast<int>((width - 2 * layout_.right) / entry));
  const int legend_rows = (static_cast<int>(legend.size()) + across - 1) / across;
  const auto lines =
      wrapped(caption, static_cast<std::size_t>((width - 2 * layout_.right) / kCaptionChar));
  const int foot =
      12 + legend_rows * kLegendRow + 6 + static_cast<int>(lines.size()) * kCaptionRow + 8;
  const int height = rows * layout_.panel_height + foot;
  const auto x = [&](double pixels) { return number_text(pixels / width); };
  const auto y = [&](double pixels) { return number_text(1 - pixels / height); };  // from above

  std::ostringstream out;
  out << "# gnuplot -e \"format='png'\" " << name_ << ".gp   or 'svg', in this folder\n"
      << "if (!exists('format')) format = 'svg'\n"
      << "if (format eq 'png') {\n  set terminal pngcairo noenhanced size " << 2 * width << ","
      << 2 * height << " font 'sans,10' fontscale 2 linewidth 2 pointscale 2\n"
      << "} else {\n  set terminal svg noenhanced size " << width << "," << height
      << " font 'sans,12' background 'white'\n}\n"
      << "set output '" << name_ << ".'.format\n"
      << "set encoding utf8\nset border 3 lc rgb '#444444'\nset tics nomirror out scale 0.6\nset "
         "grid lc rgb '#DDDDDD' lt 1 lw 0.6\nunset key\nset style fill solid\n"
      << "set bars small\nset datafile missing 'NaN'\n"
      << "set multiplot\n";
  for (std::size_t i = 0; i < legend.size(); ++i) {
    const double left = layout_.right + entry * static_cast<double>(i % across) + 10;
    const double top =
        rows * layout_.panel_height + 12 + (static_cast<double>(i / across) + 0.5) * kLegendRow;
    const std::string mark =
        marks_ == Legend::points ? point_style(i) : "lc rgb '" + colour(i) + "' pt 5";
    out << "set label " << i + 1 << " " << gnuplot_text(legend[i]) << " at screen " << x(left)
        << "," << y(top) << " left point " << mark << " ps 1.1 offset 1.3,-0.15\n";
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const double top = height - 8 - (static_cast<double>(lines.size() - i) - 0.5) * kCaptionRow;
    out << "set label " << 1000 + i << " " << gnuplot_text(lines[i]) << " at screen "
        << x(layout_.right) << "," << y(top) << " left font ',9' tc rgb '#444444'\n";
  }
  for (std::size_t i = 0; i < panels_.size(); ++i) {
    const Panel& panel = panels_[i];
    const int column = static_cast<int>(i) % layout_.columns,
              row = static_cast<int>(i) / layout_.columns;
    out << "\n# " << panel.title << "\n"
        << "set lmargin at screen " << x(column * layout_.panel_width + layout_.left)
        << "\nset rmargin at screen " << x((column + 1) * layout_.panel_width - layout_.right)
        << "\nset tmargin at screen " << y(row * layout_.panel_height + kAbove)
        << "\nset bmargin at screen " << y((row + 1) * layout_.panel_height - kBelow) << "\n"
        << "set title " << gnuplot_text(panel.title) << " offset 0,-0.4\nset xlabel "
        << gnuplot_text(panel.x_label) << " offset 0,0.3\nset ylabel "
        << gnuplot_text(panel.y_label) << " offset 0,0\n"
        << panel.commands << "\n";
    if (i == 0) out << "unset label\n";
  }
  out << "\nunset multiplot\nunset output\n";
  return {name_, out.str(), data_, caption};
}

}  // namespace draftlab
