#include "experiments/plot.h"

#include <filesystem>
#include <iostream>
#include <sstream>

#include "analysis/figures/plot.h"

namespace draftlab {
namespace {

std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

// out/quickstart.h5 -> out/quickstart-figures
std::string folder_for(const std::string& path) {
  std::filesystem::path where(path);
  if (where.filename().empty()) where = where.parent_path();  // a folder with a slash at its end
  return (where.parent_path() / where.stem()).string() + "-figures";
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
  const Plotted plotted = plot(files, request);
  for (const Picture& picture : plotted.pictures) {
    std::cout << files.out << "/" << picture.name;
    if (files.formats.size() == 1)
      std::cout << "." << files.formats.front();
    else
      std::cout << ".{" << files.formats.front() << "," << files.formats.back() << "}";
    std::cout << "\n  " << picture.caption << "\n";
  }
  for (const std::string& sentence : plotted.left_out)
    std::cerr << "left out: " << sentence << "\n";
  return 0;
}

}  // namespace draftlab
