// `draftlab plot PATH...` draws figures of traces, sweeps and trainings.
#include <filesystem>
#include <iostream>

#include "analysis/figures/plot.h"
#include "experiments/commands.h"

namespace draftlab {
namespace {

// The fields of the two structs that analysis/figures asks for are the flags.
struct PlotFlags {
  PlotFiles files;
  PlotRequest request;
  void declare(OptionSet& set) {
    set.add("figure", &files.figures)
        .help("pareto, acceptance, progress, ar, calibration, router, cost, heat, axis, training.");
    set.add("out", &files.out)
        .help("Folder for pictures, data and scripts; without it PATH-figures.");
    set.add("format", &files.formats).help("Formats of the pictures: svg, png, pdf.");
    set.add("width", &request.width).help("One column of a page, or both.");
    set.add("series", &request.series)
        .help("Config keys whose values are colours; `arm` is an arm's label.");
    set.add("along", &request.along)
        .help("Config key whose values are markers, or the axis, of an arm's series.");
    set.add("score", &request.score).help("Metric upwards in pareto and axis, in heat's cells.");
    set.add("speed", &request.speed).help("Metric across in pareto.");
    set.add("axes", &request.axes).help("KEY,KEY of heat; KEY of axis.");
    set.add("by", &request.by).help("Config keys whose values make a series.");
    set.add("baseline", &request.baseline)
        .help("The arm that others are compared with, \"key=value ...\".");
  }
};

// Maps out/quickstart.h5 to out/quickstart-figures.
std::string folder_for(const std::string& path) {
  std::filesystem::path where(path);
  // The path is a folder with a slash at its end.
  if (where.filename().empty()) where = where.parent_path();
  return (where.parent_path() / where.stem()).string() + "-figures";
}

int plot_paths(const PlotFlags& flags, const CommandLine& line, const Registries&) {
  PlotFiles files = flags.files;
  files.paths = line.paths;
  if (files.out.empty()) files.out = folder_for(line.paths.front());
  const Plotted plotted = plot(files, flags.request);
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

}  // namespace

Command plot_command() {
  return {.name = "plot",
          .arguments = "PATH...",
          .summary = "figures of traces, sweeps and trainings, drawn by gnuplot",
          .most = kAnyNumber,
          .flags = with_flags(plot_paths)};
}

}  // namespace draftlab
