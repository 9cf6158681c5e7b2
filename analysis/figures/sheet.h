// A picture as gnuplot draws it: panels in a grid, one legend and one caption below them, nothing
// on top of anything else. All lengths are pixels here and fractions of the sheet in the script.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analysis/statistics.h"

namespace draftlab {

struct Picture {
  std::string name;    // of its files: pareto.gp, pareto.dat, pareto.svg
  std::string script;  // draws with  gnuplot -e "format='png'" NAME.gp  in its folder
  std::vector<std::pair<std::string, std::string>> data;  // file name and text
  std::string caption;
};

// Okabe and Ito's colours, which the colour-blind tell apart; their yellow last, since it is faint
// on white.
std::string colour(std::size_t series);
// "lc rgb '#0072B2' pt 7": colours repeat after eight series, with another shape.
std::string point_style(std::size_t series);
// The same with a dash, which changes as well.
std::string line_style(std::size_t series);

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

class Sheet {
 public:
  struct Layout {
    int columns = 1, rows = 1;
    int panel_width = 400, panel_height = 280;
    int left = 70, right = 24;  // margins of a panel
  };
  enum class Legend { points, boxes };
  Sheet(std::string name, Layout layout);
  void legend(const std::vector<std::string>& series,
              Legend marks = Legend::points);  // in the order of the styles
  // A panel: `commands` set what they need and plot.
  void panel(const std::string& title, const std::string& x_label, const std::string& y_label,
             const std::string& commands);
  void data(const std::string& file, const std::string& text) { data_.emplace_back(file, text); }
  Picture picture(const std::string& caption) const;

 private:
  struct Panel {
    std::string title, x_label, y_label, commands;
  };
  std::string name_;
  Layout layout_;
  std::vector<std::string> legend_;
  Legend marks_ = Legend::points;
  std::vector<Panel> panels_;
  std::vector<std::pair<std::string, std::string>> data_;
};

}  // namespace draftlab
