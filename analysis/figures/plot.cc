#include "analysis/figures/plot.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>

#include "analysis/frame/timing.h"
#include "analysis/frame/widened.h"
#include "analysis/report/words.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "core/trace/hdf5_columns.h"

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

bool is_curves(const std::string& path) {
  return ColumnReader(path, ColumnReader::Trust::lazy).text("magic") == std::string(kCurvesMagic);
}

// Curves that are named or lie in folders; what is left are traces, and folders that hold some.
std::vector<std::string> take_curves(std::vector<std::string>& paths) {
  std::vector<std::string> curves, rest;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      (is_curves(path) ? curves : rest).push_back(path);
      continue;
    }
    bool traces = false;
    std::vector<std::string> here;
    for (auto entry = fs::recursive_directory_iterator(path, error);
         !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      const fs::path& file = entry->path();
      if (file.filename() == "curves.h5")
        here.push_back(file.string());
      else
        traces = traces || file.extension() == ".h5";
    }
    std::sort(here.begin(), here.end());
    curves.insert(curves.end(), here.begin(), here.end());
    if (traces || here.empty())
      rest.push_back(path);  // The frame refuses an empty folder in words.
  }
  paths = rest;
  return curves;
}

// What gnuplot says goes to `log`. Its exit status, 127 when there is no such program.
int run_gnuplot(const std::string& gnuplot, const std::string& folder, const std::string& setting,
                const std::string& script, const std::string& log) {
  const pid_t child = ::fork();
  if (child < 0) return 127;
  if (child == 0) {
    const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file >= 0) ::dup2(file, STDERR_FILENO), ::dup2(file, STDOUT_FILENO);
    if (::chdir(folder.c_str()) != 0) ::_exit(126);
    ::execlp(gnuplot.c_str(), gnuplot.c_str(), "-e", setting.c_str(), script.c_str(),
             static_cast<char*>(nullptr));
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
      const int status =
          run_gnuplot(gnuplot, folder, "format='" + format + "'; out='" + partial + "'",
                      picture.name + ".gp", log);
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

int PlotData::series_of(std::int64_t sample) const {
  const Frame::Sample& s = frame.samples()[static_cast<std::size_t>(sample)];
  return s.counts ? grouping.group_of[static_cast<std::size_t>(s.arm)] : -1;
}

std::vector<std::string> PlotData::names() const {
  std::vector<std::string> names;
  for (const FigureItem& item : figure_items(grouping)) names.push_back(words_of(item));
  return names;
}

std::vector<FigureItem> items_of(const PlotData& data, const Report& report) {
  const std::vector<FigureItem> known = figure_items(data.grouping);
  std::vector<FigureItem> list;
  for (const Report::Group& group : report.groups) {
    list.push_back(*std::find_if(known.begin(), known.end(), [&](const FigureItem& one) {
      return data.grouping.groups[static_cast<std::size_t>(one.group)].arms == group.arms;
    }));
    list.back().group = static_cast<int>(list.size()) - 1;
  }
  return list;
}

std::string Reading::label() const {
  return factor ? factor_words(*quantity) : title_words(*quantity);
}

Estimate Reading::of(const Report::Group& group) const {
  const ReportCell& cell = group.cell(*quantity);
  return !factor ? cell.value : cell.versus ? cell.versus->ratio : Estimate{1, {1, 1}};
}

bool Reading::share() const {
  return !factor && (quantity->share || quantity->margin == "margin_score");
}

void each_shown(const PlotData& data, const ReadColumns& columns,
                const std::function<void(const ShownSample&)>& visit) {
  data.frame.walk(columns.steps, columns.lower, columns.rows, [&](const Frame::Block& block) {
    for (std::size_t i = 0; i < block.samples.size(); ++i) {
      const int series = data.series_of(block.samples[i]);
      if (series < 0) continue;
      const auto sample = static_cast<std::size_t>(block.samples[i]);
      visit({block, i, static_cast<std::size_t>(series), data.frame.samples()[sample].prompt,
             block.step_begin[i], block.step_begin[i + 1]});
    }
  });
}

Report report_of(const PlotData& data, const ShownMetrics& shown) {
  ReportRequest request{.by = shown.by, .baseline = data.request.baseline};
  request.known = data.request.known;
  for (const Metric* const metric : shown.metrics) {
    const std::string refused = metric->timing ? times_refused(data.frame) : "";
    if (!refused.empty())
      throw DataError("the figure '{}' would compare {}, and times may not be compared: {}",
                      shown.figure, metric->name, refused);
    request.metrics.push_back(metric->name);
  }
  return make_report(data.frame, request);
}

std::vector<std::string> swept_keys(const Frame& frame) {
  std::vector<std::string> keys;
  for (const Frame::Arm& arm : frame.arms())
    for (const AxisRow& axis : arm.run.axes)
      if (std::count(keys.begin(), keys.end(), axis.key) == 0) keys.push_back(axis.key);
  return keys.empty() ? frame.varying() : keys;
}

std::optional<double> number_of(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return text.empty() || *end != 0 ? std::nullopt : std::optional(value);
}

std::vector<std::string> values_of(const Frame& frame, const std::string& key) {
  std::set<std::string> values;
  for (std::size_t arm = 0; arm < frame.arms().size(); ++arm)
    values.insert(frame.key(static_cast<int>(arm), key));
  values.erase("");
  std::vector<std::string> sorted(values.begin(), values.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const std::string& a, const std::string& b) {
    const auto x = number_of(a), y = number_of(b);
    return x && y ? *x < *y : x.has_value() && !y;
  });
  return sorted;
}

std::string chosen_score(const PlotData& data) {
  if (!data.request.score.empty()) return data.request.score;
  // A score in which samples differ at all.
  for (const std::string& score : data.quantities.samples().plain_scores()) {
    std::vector<double> values = data.quantities.of(data.quantities.find(score)).above();
    std::erase_if(values, [](double value) { return value != value; });
    if (std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) != values.end())
      return score;
  }
  return "perplexity";
}

std::string sampling_note(const PlotData& data, std::size_t prompts, const std::string& intervals) {
  std::size_t samples = 0;
  for (std::size_t i = 0; i < data.frame.samples().size(); ++i)
    samples += data.series_of(static_cast<std::int64_t>(i)) >= 0;
  const std::string widened = widened_note(data.frame);
  return (widened.empty() ? "" : "The target was " + widened + " parameters. ") +
         std::to_string(prompts) + (prompts == 1 ? " prompt, " : " prompts, ") +
         std::to_string(samples) + " samples; " +
         (prompts < 2 ? "a single prompt gives no intervals" : intervals) + ".";
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
