// A picture as gnuplot draws it: panels in a grid, one legend below them, nothing on top of
// anything else. All lengths are points of a page here and fractions of the sheet in the script, so
// that type has the size that it will have in a paper's column.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/report/statistics.h"

namespace draftlab {

struct Picture {
  std::string name;    // The name of its files: pareto.gp, pareto.dat, pareto.svg.
  std::string script;  // The command  gnuplot -e "format='png'" NAME.gp  draws it in its folder.
  std::vector<std::pair<std::string, std::string>> data;  // Pairs of a file's name and its text.
  std::string caption;
};

// A column of a paper, or both: how wide a picture is.
enum class PageWidth { single_column, double_column };
constexpr std::array<std::string_view, 2> words(PageWidth) { return {"single", "double"}; }

inline constexpr std::size_t kColours = 8, kMarkers = 8;
// Okabe and Ito's colours, which the colour-blind tell apart, with grey in the place of black,
// which is the baseline's; their yellow last, since it is faint on white.
std::string colour(std::size_t series);
int marker(std::size_t series);  // Returns a shape of gnuplot.
// "lc rgb '#0072B2' pt 7": a colour with a shape of its own.
std::string point_style(std::size_t series);

// Text in gnuplot's single quotes.
std::string gnuplot_text(const std::string& text);
// Shortest text of a number; "NaN" where it is none.
std::string number_text(double value);
// "value low high" for a data file.
std::string estimate_text(const Estimate& estimate);
// Without an interval, the value stands for it: a point without a bar.
Estimate bounded(const Estimate& estimate);
// At most `most` characters, the rest an ellipsis.
std::string shortened(const std::string& text, std::size_t most);

// The range of an axis, in which all numbers that were added are in sight; shares go from 0 to 1.
class AxisRange {
 public:
  void add(double value);
  void add(const Estimate& estimate);
  bool within_a_share() const;  // Says whether all numbers lie between 0 and 1.
  // Returns "set xrange [..]" and tics that do not collide, at most `most` of them. Between whole
  // `values` there are no halves. Where the largest value is eight times the smallest, as of powers
  // of two, they stand on a logarithmic axis.
  std::string commands(char axis, bool share, std::size_t most,
                       const std::vector<double>& values = {}) const;

 private:
  double low_ = 0, high_ = 0;
  bool any_ = false;
};

// Tics below an axis that counts from 1: 1, and round numbers up to the last.
std::string count_tics(std::size_t last);

struct LegendEntry {
  std::string text;
  std::string style;     // The mark in gnuplot's words, such as "lc rgb '#0072B2' pt 7".
  bool heading = false;  // A heading begins a line and has no mark.
};

class Sheet {
 public:
  struct Layout {
    std::size_t across = 1;  // How many panels stand side by side, where the page is wide enough.
    int panel_height = 170;
    int left = 42, right = 12;  // The margins of a panel.
    PageWidth width = PageWidth::double_column;
  };
  Sheet(std::string name, Layout layout);
  void legend(std::vector<LegendEntry> entries) { legend_ = std::move(entries); }
  // What is not shown, above the panels.
  void title(const std::string& text) { title_ = text; }
  // The next panel begins a row.
  void begin_row() { row_begins_ = true; }
  // A panel: `commands` set what they need and plot. A title that is too wide stands in two lines.
  void panel(const std::string& title, const std::string& x_label, const std::string& y_label,
             const std::string& commands);
  void data(const std::string& file, const std::string& text) { data_.emplace_back(file, text); }
  Picture picture(const std::string& caption) const;
  // How wide the data area of a panel is, in points.
  int plot_width() const;
  // How many panels stand side by side.
  std::size_t columns() const;

 private:
  struct Panel {
    std::string title, x_label, y_label, commands;
    bool begins_row = false;
  };
  int width() const;
  std::string name_, title_;
  Layout layout_;
  std::vector<LegendEntry> legend_;
  std::vector<Panel> panels_;
  bool row_begins_ = false;
  std::vector<std::pair<std::string, std::string>> data_;
};

}  // namespace draftlab
