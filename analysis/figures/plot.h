// `draftlab plot`: figures drawn by gnuplot from traces and curves. Data, script and caption stay
// beside the picture, to be restyled.
#pragma once

#include <string>
#include <vector>

#include "analysis/figures/figures.h"

namespace draftlab {

struct FigureInfo {
  std::string name, doc;
};
const std::vector<FigureInfo>& figures();

struct PlotFiles {
  std::vector<std::string> paths;              // Traces, curves, or folders of either.
  std::vector<std::string> figures = {"all"};  // The names of figures.
  std::string out;                             // The folder that they are written to.
  std::vector<std::string> formats = {"svg", "png", "pdf"};
};

struct Plotted {
  std::vector<Picture> pictures;
  std::vector<std::string> left_out;  // Why a figure of "all" was not drawn, a sentence each.
};

// UsageError: no such figure or format. DataError: a figure that was named lacks its data.
// OutputError: no gnuplot, or it failed; data and scripts have been written by then.
Plotted plot(const PlotFiles& files, const PlotRequest& request);

// Data and scripts of the pictures, then gnuplot once a picture and format.
void draw(const std::vector<Picture>& pictures, const std::string& folder,
          const std::vector<std::string>& formats, const std::string& gnuplot = "gnuplot");

}  // namespace draftlab
