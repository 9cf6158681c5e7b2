// A picture as gnuplot draws it: panels in a grid, one legend below them, nothing on top of
// anything else. All lengths are points of a page here and fractions of the sheet in the script, so
// that type has the size that it will have in a paper's column.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/figures/axis_range.h"
#include "analysis/figures/script_text.h"

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
    int below = 34;             // The room below a panel for its tics and the label of its axis.
    int narrowest = 150;        // The narrowest panel.
    PageWidth width = PageWidth::double_column;
  };
  Sheet(std::string name, Layout layout);
  void legend(std::vector<LegendEntry> entries) { legend_ = std::move(entries); }
  // What is not shown, above the panels.
  void title(const std::string& text) { title_ = text; }
  // The next panel begins a row.
  void begin_row() { row_begins_ = true; }
  // A panel: `commands` set what they need and plot. Titles and labels that are too long for one
  // line stand in several.
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
  // Where all of it stands, in points from the upper left corner.
  struct Geometry {
    std::vector<std::pair<int, int>> places;  // The row and the column of each panel.
    int panel_width = 0, panel_height = 0, rows = 0;
    int above = 0, left = 0, below = 0;                  // The margins of a panel.
    int top = 0;                                         // The height of the sheet's title.
    std::size_t title_most = 0, x_most = 0, y_most = 0;  // How many characters a line holds.
    int legend_height = 0;
    int height = 0;
  };
  struct PlacedEntry {
    LegendEntry entry;
    double x;
    int row;
  };
  int width() const;
  std::vector<std::pair<int, int>> places_in(int across) const;
  Geometry geometry() const;
  std::vector<PlacedEntry> placed_legend() const;
  std::string preamble(const Geometry& at) const;
  std::string legend_script(const Geometry& at) const;
  std::string panel_script(const Geometry& at, std::size_t index) const;
  std::string name_, title_;
  Layout layout_;
  std::vector<LegendEntry> legend_;
  std::vector<Panel> panels_;
  bool row_begins_ = false;
  std::vector<std::pair<std::string, std::string>> data_;
};

}  // namespace draftlab
