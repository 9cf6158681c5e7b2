// `draftlab plot PATH...` draws figures of traces, sweeps and trainings.
#include <filesystem>
#include <iostream>

#include "analysis/figures/plot.h"
#include "analysis/surface/predicted.h"
#include "experiments/commands.h"

namespace draftlab {
namespace {

// The fields of the two structs that analysis/figures asks for are the flags.
struct PlotFlags {
  PlotFiles files;
  PlotRequest request;
  SurfaceRequest surface;
  void declare(OptionSet& set) {
    set.add("figure", &files.figures)
        .help(
            "Figures, separated by commas: all that the trace has the columns for, or pareto, "
            "acceptance, progress, ar, calibration, router, cost, heat, axis, machine, training. "
            "docs/REPORTS.md says what each shows.");
    set.add("out", &files.out)
        .help("Folder of pictures, their data and their scripts; without it PATH-figures.");
    set.add("format", &files.formats).help("Formats of the pictures: svg, png, pdf.");
    set.add("width", &request.width)
        .help("Whether a figure fills one column of a page (single) or both (double).");
    set.add("series", &request.series)
        .help(
            "Config keys whose values are told apart by colour; `arm` stands for an arm's label.");
    set.add("along", &request.along)
        .help(
            "Config key whose values are the points of a series: markers, or places on the axis.");
    set.add("score", &request.score)
        .help("Metric that pareto and axis draw upwards, and that heat writes into its cells.");
    set.add("speed", &request.speed)
        .help("Metric that pareto draws from left to right; with --surface, what it predicts.");
    set.add("axes", &request.axes)
        .help("Config keys that span heat (KEY,KEY), or the one along which axis is drawn (KEY).");
    set.add("ties", &request.order.ties)
        .help("How ar orders the tokens of one step: as they were committed, or by position.");
    set.add("by", &request.by)
        .help(
            "Config keys that group the arms; arms that differ in other keys are taken together.");
    set.add("baseline", &request.baseline)
        .help("The arm that others are compared with, \"key=value ...\".");
    surface.declare(set);
  }
};

// Maps out/quickstart.h5 to out/quickstart-figures.
std::string folder_for(const std::string& path) {
  std::filesystem::path where(path);
  // The path is a folder with a slash at its end.
  if (where.filename().empty()) where = where.parent_path();
  return (where.parent_path() / where.stem()).string() + "-figures";
}

int plot_paths(const PlotFlags& flags, const CommandLine& line, const Registries& registries) {
  PlotFiles files = flags.files;
  PlotRequest request = flags.request;
  const PredictedMetrics predicted = predicted_metrics(flags.surface, registries.metrics);
  request.known = &predicted.known;
  request.predicted = predicted.names;
  if (!predicted.names.empty() && request.speed == PlotRequest().speed)
    request.speed = predicted.names.front();
  files.paths = line.paths;
  if (files.out.empty()) files.out = folder_for(line.paths.front());
  const Plotted plotted = plot(files, request);
  for (const Picture& picture : plotted.pictures) {
    std::cout << files.out << "/" << picture.name;
    std::string formats;
    for (const std::string& format : files.formats)
      formats += (formats.empty() ? "" : ",") + format;
    std::cout << (files.formats.size() == 1 ? "." + formats : ".{" + formats + "}");
    std::cout << "\n  " << picture.caption << "\n";
  }
  if (!predicted.names.empty()) std::cout << predicted.note() << "\n";
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
