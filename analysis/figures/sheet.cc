#include "analysis/figures/sheet.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

namespace draftlab {
namespace {

constexpr int kAbove = 18;  // The room above a panel for a title of one line.
constexpr int kLine = 10;   // The height of each further line of a title or a label.
constexpr int kLegendRow = 13, kTitleRow = 16;
constexpr int kEdge = 10;           // The room beside the legend and the title of the sheet.
constexpr double kChar = 4.7;       // The width of a character in a legend or a label, in points.
constexpr double kTitleChar = 4.9;  // The same in a title.

// How many characters stand in a length.
std::size_t most_characters(double length, double width) {
  return static_cast<std::size_t>(std::max(1.0, length / width));
}

// Places of the script are shares of a sheet's width and height.
class Scale {
 public:
  Scale(int width, int height) : width_(width), height_(height) {}
  std::string x(double points) const { return number_text(points / width_); }
  // Places are counted from above.
  std::string y(double points) const { return number_text(1 - points / height_); }
  std::string at(double across, double down) const {
    return " at screen " + x(across) + "," + y(down);
  }
  std::string size(double unit) const {
    return number_text(std::round(unit * width_ * 1000) / 1000) + "," +
           number_text(std::round(unit * height_ * 1000) / 1000);
  }

 private:
  double width_, height_;
};

// A label of gnuplot: "set label 900 'text' at screen 0.1,0.2" and what follows.
std::string label_script(std::size_t number, const std::string& text, const std::string& more) {
  return "set label " + std::to_string(number) + " " + text + more + "\n";
}

}  // namespace

Sheet::Sheet(std::string name, Layout layout) : name_(std::move(name)), layout_(layout) {}

int Sheet::width() const { return layout_.width == PageWidth::single_column ? 245 : 504; }

std::size_t Sheet::columns() const {
  const int least = layout_.narrowest + std::max(0, layout_.left - 42);
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

std::vector<std::pair<int, int>> Sheet::places_in(int across) const {
  std::vector<std::pair<int, int>> places;
  for (const Panel& panel : panels_) {
    auto [line, column] = places.empty() ? std::pair(0, -1) : places.back();
    const bool full = column + 1 == across || (panel.begins_row && !places.empty());
    places.emplace_back(full ? line + 1 : line, full ? 0 : column + 1);
  }
  return places;
}

Sheet::Geometry Sheet::geometry() const {
  Geometry at;
  at.places = places_in(static_cast<int>(columns()));
  // Panels take the room of those that are not there.
  int across = 1;
  for (const auto& [line, column] : at.places) across = std::max(across, column + 1);
  at.rows = at.places.empty() ? 0 : at.places.back().first + 1;
  at.panel_width = width() / across;
  const auto most_lines = [&](std::string Panel::*text, std::size_t most) {
    std::size_t lines = 1;
    for (const Panel& panel : panels_) lines = std::max(lines, lines_of(panel.*text, most).size());
    return static_cast<int>(lines) - 1;
  };
  at.title_most = most_characters(at.panel_width - 4, kTitleChar);
  const int titles = kLine * most_lines(&Panel::title, at.title_most);
  at.x_most = most_characters(at.panel_width - 8, kChar);
  const int labels = kLine * most_lines(&Panel::x_label, at.x_most);
  at.above = kAbove + titles, at.below = layout_.below + labels;
  at.panel_height = layout_.panel_height + titles + labels;
  at.y_most = most_characters(at.panel_height - 12, kChar);
  at.left = layout_.left + kLine * most_lines(&Panel::y_label, at.y_most);
  const std::size_t title_lines =
      lines_of(title_, most_characters(width() - 2 * kEdge, kTitleChar)).size();
  at.top = title_.empty() ? 0 : kTitleRow + kLine * static_cast<int>(title_lines - 1);
  const std::vector<PlacedEntry> legend = placed_legend();
  at.legend_height = legend.empty() ? 4 : (legend.back().row + 1) * kLegendRow + 10;
  at.height = at.top + at.rows * at.panel_height + at.legend_height;
  return at;
}

// Entries stand side by side as far as they fit, and in columns where they take several lines; a
// heading begins a line.
std::vector<Sheet::PlacedEntry> Sheet::placed_legend() const {
  std::vector<LegendEntry> legend = legend_;
  const double room = width() - 2 * kEdge;
  std::vector<double> widths;
  for (LegendEntry& entry : legend) {
    entry.text = shortened(entry.text, most_characters(room - 20, kChar));
    widths.push_back(kChar * static_cast<double>(characters(entry.text)) +
                     (entry.heading ? 8 : 24));
  }
  const bool headed = std::any_of(legend.begin(), legend.end(),
                                  [](const LegendEntry& entry) { return entry.heading; });
  if (!headed && std::accumulate(widths.begin(), widths.end(), 0.0) > room)
    std::fill(widths.begin(), widths.end(), *std::max_element(widths.begin(), widths.end()));
  std::vector<PlacedEntry> placed;
  double x = kEdge;
  int row = 0;
  for (std::size_t i = 0; i < legend.size(); ++i) {
    if (!placed.empty() && (legend[i].heading || x + widths[i] > width() - kEdge)) ++row, x = kEdge;
    placed.push_back({legend[i], x, row});
    x += widths[i];
  }
  return placed;
}

std::string Sheet::preamble(const Geometry& at) const {
  const Scale scale(width(), at.height);
  std::ostringstream out;
  out << "# gnuplot -e \"format='png'\" " << name_ << ".gp   or 'svg' or 'pdf', in this folder\n"
      << "if (!exists('format')) format = 'svg'\n"
      << "if (format eq 'png') {\n  set terminal pngcairo noenhanced size " << 3 * width() << ","
      << 3 * at.height
      << " font 'sans,6' fontscale 3 linewidth 2.4 pointscale 2.2\n  small = ',5.3'\n"
      << "} else { if (format eq 'pdf') {\n  set terminal pdfcairo noenhanced size "
      << scale.size(1 / 72.0)
      << " font 'sans,8' fontscale 1 linewidth 1.2 pointscale 0.5\n  small = ',7'\n"
      << "} else {\n  set terminal svg noenhanced size " << width() << "," << at.height
      << " font 'sans,8' linewidth 0.9 background 'white'\n  small = ',7'\n} }\n"
      << "if (!exists('out')) out = '" << name_ << ".'.format\n"
      << "set output out\n"
      << "set encoding utf8\nset border 3 lc rgb '#444444'\nset tics nomirror out scale 0.5 font "
         "small\n"
         "set format '%h'\nset grid lc rgb '#DDDDDD' lt 1 lw 0.5\nunset key\nset style fill solid\n"
      << "set bars small\nset datafile missing 'NaN'\n"
      << "set multiplot\n";
  if (at.top > 0)
    out << label_script(900,
                        gnuplot_lines(title_, most_characters(width() - 2 * kEdge, kTitleChar)),
                        scale.at(kEdge, 0.55 * kTitleRow) + " left font small tc rgb '#444444'");
  return out.str();
}

std::string Sheet::legend_script(const Geometry& at) const {
  const Scale scale(width(), at.height);
  std::string script;
  std::size_t number = 1;
  for (const auto& [entry, x, row] : placed_legend()) {
    const double y = at.top + at.rows * at.panel_height + 6 + (row + 0.5) * kLegendRow;
    std::string more = scale.at(x + (entry.heading ? 0 : 5), y) + " left";
    if (const std::size_t letter = entry.style.find("pt '"); letter != std::string::npos) {
      // Points of labels have no letters, so that a letter is a label of its own.
      const std::string ink = ink_of(entry.style).substr(3);
      script += label_script(number++, "'" + entry.style.substr(letter + 4, 1) + "'",
                             scale.at(x + 5, y) + " center tc " + ink);
      more += " offset 0.9,0";
    } else if (!entry.heading) {
      more += " point " + entry.style + " ps 0.8 offset 0.9,-0.12";
    }
    script += label_script(number++, gnuplot_text(entry.text), more);
  }
  return script;
}

std::string Sheet::panel_script(const Geometry& at, std::size_t index) const {
  const Scale scale(width(), at.height);
  const Panel& panel = panels_[index];
  const auto [line, column] = at.places[index];
  const int y = at.top + line * at.panel_height, x = column * at.panel_width;
  const int left = x + at.left, right = x + at.panel_width - layout_.right, top = y + at.above,
            bottom = y + at.panel_height - at.below;
  const auto lines = [](const std::string& text, std::size_t most) {
    return static_cast<double>(lines_of(text, most).size() - 1);
  };
  // Labels of axes have places of their own, at the panel's edges, so that they touch no tic.
  return "\n# " + panel.title + "\nset lmargin at screen " + scale.x(left) +
         "\nset rmargin at screen " + scale.x(right) + "\nset tmargin at screen " + scale.y(top) +
         "\nset bmargin at screen " + scale.y(bottom) + "\nset title " +
         gnuplot_lines(panel.title, at.title_most) + " offset 0,-0.6\n" +
         label_script(901, gnuplot_lines(panel.x_label, at.x_most),
                      scale.at(0.5 * (left + right),
                               y + at.panel_height - 9 - kLine * lines(panel.x_label, at.x_most)) +
                          " center") +
         label_script(902, gnuplot_lines(panel.y_label, at.y_most),
                      scale.at(x + 8, 0.5 * (top + bottom)) + " center rotate") +
         panel.commands + "\n";
}

Picture Sheet::picture(const std::string& caption) const {
  const Geometry at = geometry();
  std::string script = preamble(at) + legend_script(at);
  for (std::size_t i = 0; i < panels_.size(); ++i)
    script += panel_script(at, i) + (i == 0 ? "unset label\n" : "");
  return {name_, script + "\nunset multiplot\nunset output\n", data_, caption};
}

}  // namespace draftlab
