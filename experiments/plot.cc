#include "experiments/plot.h"

#include <filesystem>
#include <iostream>
#include <sstream>

#include "analysis/figures/plot.h"
#include "core/base/error.h"

namespace draftlab {
namespace {

std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

// Maps out/quickstart.h5 to out/quickstart-figures.
std::string folder_for(const std::string& path) {
  std::filesystem::path where(path);
  // The path is a folder with a slash at its end.
  if (where.filename().empty()) where = where.parent_path();
  return (where.parent_path() / where.stem()).string() + "-figures";
}

PageWidth page_width(const std::string& name) {
  if (name != "single" && name != "double")
    throw UsageError("--width " + name + " must be single or double, a column of a page or both");
  return name == "single" ? PageWidth::single_column : PageWidth::double_column;
}

}  // namespace

int plot(const CommandLine& line, const Registries&) {
  PlotFiles files;
  files.paths = line.paths;
  if (line.has("figure")) files.figures = listed(line.flag("figure"));
  if (line.has("format")) files.formats = listed(line.flag("format"));
  files.out = line.flag("out", folder_for(line.paths.front()));
  PlotRequest request;
  request.by = listed(line.flag("by"));
  request.baseline = line.flag("baseline");
  request.score = line.flag("score");
  if (line.has("speed")) request.speed = line.flag("speed");
  request.axes = listed(line.flag("axes"));
  request.series = listed(line.flag("series"));
  request.along = line.flag("along");
  request.width = page_width(line.flag("width", "double"));
  const Plotted plotted = plot(files, request);
  for (const Picture& picture : plotted.pictures) {
    std::cout << files.out << "/" << picture.name;
    std::string formats;
    for (const std::string& format : files.formats)
      formats += (formats.empty() ? "" : ",") + format;
    std::cout << (files.formats.size() == 1 ? "." + formats : ".{" + formats + "}");
    std::cout << "\n  " << picture.caption << "\n";
  }
  for (const std::string& sentence : plotted.left_out)
    std::cerr << "left out: " << sentence << "\n";
  return 0;
}

}  // namespace draftlab
