#include "analysis/figures/plot.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <optional>

#include "analysis/frame/trainings.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/text.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

struct Figure {
  FigureInfo info;
  std::function<Picture(const PlotData&)> make;  // It is empty for what is drawn from curves.
};

const std::vector<std::string> kFormats = {"svg", "png", "pdf"};

const std::vector<Figure>& all_figures() {
  static const std::vector<Figure> all = {
      {{"pareto", "a score against speed, with the Pareto front"}, pareto_figure},
      {{"acceptance", "acceptance by depth, of those drafted and of those reached"},
       acceptance_figure},
      {{"progress", "acceptance over the course of a decode"}, progress_figure},
      {{"ar", "AR-ness, confidence and tokens a step as decoding goes on"}, ar_figure},
      {{"calibration", "expected against true prefix, confidence against acceptance"},
       calibration_figure},
      {{"router", "the router's decisions over a block"}, router_figure},
      {{"cost", "forwards and seconds by kind"}, cost_figure},
      {{"heat", "one quantity over two axes of a sweep"}, heat_figure},
      {{"axis", "one quantity along one axis of a sweep"}, axis_figure},
      {{"machine", "predicted speedup by a machine's bandwidth and arithmetic"}, machine_figure},
      {{"training", "curves of trainings (curves.h5)"}, {}},
  };
  return all;
}

struct GnuplotCall {
  std::string program, folder, setting, script;
  std::string log;  // What gnuplot says goes to this file.
};

// The exit status of gnuplot, 127 when there is no such program.
int run_gnuplot(const GnuplotCall& call) {
  const pid_t child = ::fork();
  if (child < 0) return 127;
  if (child == 0) {
    const int file = ::open(call.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file >= 0) ::dup2(file, STDERR_FILENO), ::dup2(file, STDOUT_FILENO);
    if (::chdir(call.folder.c_str()) != 0) ::_exit(126);
    ::execlp(call.program.c_str(), call.program.c_str(), "-e", call.setting.c_str(),
             call.script.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

void check_request(const PlotFiles& files) {
  std::vector<std::string> known = {"all"};
  for (const FigureInfo& figure : figures()) known.push_back(figure.name);
  for (const std::string& name : files.figures) {
    if (std::count(known.begin(), known.end(), name) > 0) continue;
    const std::string near = nearest(name, known);
    throw UsageError("there is no figure '{}'; {}", name,
                     near.empty() ? "there are " + joined(known) : "did you mean '" + near + "'?");
  }
  for (const std::string& format : files.formats) {
    if (std::count(kFormats.begin(), kFormats.end(), format) == 0)
      throw UsageError("--format {} is none of svg, png, pdf", format);
  }
}

}  // namespace

const std::vector<FigureInfo>& figures() {
  static const std::vector<FigureInfo> list = [] {
    std::vector<FigureInfo> infos;
    for (const Figure& figure : all_figures()) infos.push_back(figure.info);
    return infos;
  }();
  return list;
}

void draw(const std::vector<Picture>& pictures, const std::string& folder,
          const std::vector<std::string>& formats, const std::string& gnuplot) {
  make_folder(folder);
  for (const Picture& picture : pictures) {
    for (const auto& [name, text] : picture.data) write_whole(folder + "/" + name, text);
    write_whole(folder + "/" + picture.name + ".gp", picture.script);
    write_whole(folder + "/" + picture.name + ".txt", picture.caption + "\n");
  }
  for (const Picture& picture : pictures) {
    for (const std::string& format : formats) {
      const std::string log = fs::absolute(folder).string() + "/gnuplot.log";
      // A picture gets its name when it is whole, so that none is there in part.
      const std::string whole = picture.name + "." + format,
                        partial = whole + std::string(kPartial);
      const int status = run_gnuplot({.program = gnuplot,
                                      .folder = folder,
                                      .setting = "format='" + format + "'; out='" + partial + "'",
                                      .script = picture.name + ".gp",
                                      .log = log});
      if (status == 127) {
        std::error_code error;
        fs::remove(log, error);
        throw Error(69, "the figures cannot be drawn: there is no program '" + gnuplot +
                            "' (Debian: apt-get install gnuplot-nox); data and scripts are in '" +
                            folder + "'");
      }
      if (status != 0)
        throw OutputError("gnuplot failed on '{}/{}.gp' and says why in '{}'", folder, picture.name,
                          log);
      std::error_code error;
      fs::remove(log, error);
      fs::rename(folder + "/" + partial, folder + "/" + whole, error);
      if (error) throw OutputError("'{}/{}' cannot be written: {}", folder, whole, error.message());
    }
  }
}

Plotted plot(const PlotFiles& files, const PlotRequest& request) {
  check_request(files);
  std::vector<std::string> paths = files.paths;
  const std::vector<std::string> curves = take_curves(paths);
  std::optional<Frame> frame;
  if (!paths.empty()) frame.emplace(paths);
  std::optional<Metrics> quantities;
  std::optional<Grouping> grouping;
  std::optional<PlotData> data;
  if (frame) {
    quantities.emplace(*frame, *request.known);
    grouping.emplace(*frame, request.by);
    data.emplace(PlotData{*frame, *quantities, *grouping, request});
  }
  const bool all = std::count(files.figures.begin(), files.figures.end(), "all") > 0;
  Plotted plotted;
  for (const Figure& figure : all_figures()) {
    if (!all && std::count(files.figures.begin(), files.figures.end(), figure.info.name) == 0)
      continue;
    try {
      if (figure.make && !data)
        throw DataError("the figure '{}' needs a trace, and only curves of trainings were named",
                        figure.info.name);
      if (!figure.make) {
        plotted.pictures.push_back(training_figure(curves, request.width));
        continue;
      }
      plotted.pictures.push_back(figure.make(*data));
    } catch (const DataError& lacking) {
      if (!all) throw;
      plotted.left_out.push_back(lacking.what());
    }
  }
  draw(plotted.pictures, files.out, files.formats);
  return plotted;
}

}  // namespace draftlab
