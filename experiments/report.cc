// `draftlab report PATH...` prints tables of traces.
#include <iostream>

#include "analysis/frame/trainings.h"
#include "analysis/inspect/check_trace.h"
#include "analysis/page/html.h"
#include "analysis/report/acceptance_table.h"
#include "analysis/report/aup.h"
#include "analysis/report/cost.h"
#include "analysis/report/report_print.h"
#include "analysis/report/training_table.h"
#include "analysis/report/tree_table.h"
#include "analysis/surface/predicted.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/isolation.h"
#include "experiments/commands.h"
#include "experiments/terminal.h"

namespace draftlab {
namespace {

struct ReportFlags {
  ReportRequest request;
  CostRequest cost_request;
  ReportFormat format = ReportFormat::automatic;
  std::string dialect, aup, out, html;
  bool cost = false;
  std::int64_t tree = 0, levels = 0;
  double bandwidth = 0, flops = 0;
  SurfaceRequest surface;
  void declare(OptionSet& set) {
    constexpr double kMost = 1e18;
    set.add("by", &request.by)
        .help("Config keys that group the arms; without it every arm is a row.");
    set.add("metric", &request.metrics).help("What to show; `help` lists all.");
    set.add("pivot", &request.pivot).help("A key of --by whose values become columns.");
    set.add("speedup", &request.speedup)
        .help("With --pivot: nfe, seconds, ...: its factor, in brackets behind each value.");
    set.add("format", &format)
        .help(
            "The form of the table; auto: text in a terminal, no wider than it, and markdown "
            "elsewhere.");
    set.add("baseline", &request.baseline)
        .help("key=value of the group that others are compared with; arm=NAME names an arm.");
    set.add("family", &request.family)
        .help("Which p values Holm corrects together: of a metric and baseline, a metric, or all.");
    set.add("choose", &request.choose)
        .help("Metric by which one arm of each group is chosen, on the prompts of --tune.");
    set.add("tune", &request.tune)
        .help("With --choose: traces of the tuning prompts, or the number N of leading prompts.");
    set.add("dialect", &dialect)
        .help("Acceptance as vllm, spec-bench, sglang or draftlab itself (own) define it.");
    set.add("tree", &tree)
        .in(0, kMostDrafts)
        .help("The best tree of so many drafts, from how often each sibling was accepted.");
    set.add("levels", &levels)
        .in(0, kMostDrafts)
        .help("With --tree: the most levels of that tree; 0 allows as many as drafts.");
    set.add("aup", &aup)
        .help("A metric that is an accuracy: d3LLM's AUP for each value of the first key of --by.");
    set.add("cost", &cost)
        .help(
            "Forwards, rows, positions and times: when a step pays, and what it costs elsewhere.");
    set.add("bandwidth", &bandwidth)
        .in(0, kMost)
        .help("With --cost: memory bandwidth of another machine, GB/s.");
    set.add("flops", &flops)
        .in(0, kMost)
        .help("With --cost: arithmetic speed of that machine, TFLOP/s.");
    set.add("parameters", &cost_request.parameters)
        .in(0, kMost)
        .help("With --cost: parameters of the model where the traces do not say, such as 25e6.");
    surface.declare(set);
    set.add("out", &out).help("File to write instead of standard output.");
    set.add("html", &html)
        .help("One self-contained page to write: table, trade-offs and trajectories.");
  }
};

// Reads choose and tune_prompts of [report] in the config that the traces were made with; flags
// override them.
void read_declared(const Frame& frame, ReportRequest& request) {
  const auto& config = frame.files()[0].config;
  const auto choose = config.find("report.choose"), prompts = config.find("report.tune_prompts");
  if (request.choose.empty() && choose != config.end()) request.choose = choose->second;
  if (!request.choose.empty() && request.tune.empty() && prompts != config.end() &&
      prompts->second != "0")
    request.tune = {prompts->second};
}

std::vector<std::string> paths_of(const Frame& frame) {
  std::vector<std::string> paths;
  for (const Frame::File& file : frame.files()) paths.push_back(file.path);
  return paths;
}

constexpr std::size_t kColumns = 100;  // The width of text that is not for a terminal.

CostRequest cost_request(const ReportFlags& flags) {
  CostRequest cost = flags.cost_request;
  cost.by = flags.request.by;
  cost.baseline = flags.request.baseline;
  cost.machine = {1e9 * flags.bandwidth, 1e12 * flags.flops};
  if ((flags.bandwidth > 0) != (flags.flops > 0))
    throw UsageError("a machine is two numbers: --bandwidth GB/s and --flops TFLOP/s");
  return cost;
}

// Flags that say nothing without another are refused.
void check_flags(const ReportFlags& flags) {
  if (flags.levels > 0 && flags.tree == 0)
    throw UsageError("--levels bounds the tree of --tree, which is not there");
  const double elsewhere = flags.bandwidth + flags.flops + flags.cost_request.parameters;
  if (elsewhere > 0 && !flags.cost)
    throw UsageError("--bandwidth, --flops and --parameters belong to --cost, which is not there");
  const bool other = flags.cost || flags.tree > 0 || !flags.dialect.empty() || !flags.aup.empty();
  if (!flags.surface.file.empty() && other)
    throw UsageError(
        "--surface adds columns to the table of arms, and --cost, --tree, --dialect and --aup "
        "print others; leave one out");
}

int show(const ReportFlags& flags, const std::string& text) {
  if (!flags.out.empty())
    write_whole(flags.out, text);
  else
    std::cout << text;
  return 0;
}

// The form of the tables of a training, which has no arms to group or to compare.
TableForm training_form(const ReportFlags& flags) {
  const ReportRequest& request = flags.request;
  const bool table = !request.by.empty() || !request.metrics.empty() || !request.pivot.empty() ||
                     !request.baseline.empty() || !request.choose.empty();
  const bool other = flags.cost || flags.tree > 0 || !flags.dialect.empty() || !flags.aup.empty() ||
                     !flags.html.empty() || !flags.surface.file.empty();
  if (table || other)
    throw UsageError("a training has no arms: only --format and --out go with its curves");
  switch (flags.format) {
    case ReportFormat::markdown: return TableForm::markdown;
    case ReportFormat::text: return TableForm::text;
    case ReportFormat::automatic:
      return flags.out.empty() && terminal_columns() > 0 ? TableForm::text : TableForm::markdown;
    default:
      throw UsageError("--format {} is for traces; tables of a training are text or markdown",
                       word(flags.format));
  }
}

int report(const ReportFlags& flags, const CommandLine& line, const Registries& registries) {
  check_flags(flags);
  ReportRequest request = flags.request;
  const PredictedMetrics predicted = predicted_metrics(flags.surface, registries.metrics);
  request.known = &predicted.known;
  const bool helps = request.metrics == std::vector<std::string>{"help"};
  if (request.metrics.empty() && !predicted.names.empty()) {
    request.metrics = {"nfe", "tokens_per_step"};
    request.metrics.insert(request.metrics.end(), predicted.names.begin(), predicted.names.end());
  }
  if (!flags.html.empty() &&
      (flags.cost || flags.tree > 0 || !flags.dialect.empty() || !flags.aup.empty() || helps)) {
    throw UsageError(
        "--html writes the table of arms, and --cost, --tree, --dialect, --aup and --metric help "
        "print others; leave one out");
  }
  // A folder that holds traces and trainings is one of traces.
  std::vector<std::string> traces = line.paths;
  const std::vector<std::string> trainings = take_curves(traces);
  if (traces.empty()) return show(flags, training_tables(trainings, training_form(flags)));
  const Frame frame(line.paths);
  // The traces are checked meanwhile, which takes as long as the rest does.
  ChildWork checks([&] { return warnings_of_invalid(paths_of(frame)); });
  std::string text;
  if (helps) {
    text = metric_help(frame, predicted.known);
  } else if (flags.cost) {
    text = cost_tables(frame, cost_request(flags));
  } else if (flags.tree > 0) {
    const std::int64_t levels = flags.levels > 0 ? flags.levels : flags.tree;
    text = tree_table(frame, request, static_cast<int>(flags.tree), static_cast<int>(levels));
  } else if (!flags.aup.empty()) {
    text = aup_table(frame, request, flags.aup);
  } else if (!flags.dialect.empty()) {
    text = acceptance_table(frame, request, dialect_of(flags.dialect));
  } else {
    read_declared(frame, request);
    Report made = make_report(frame, request);
    if (!predicted.names.empty()) made.notes.push_back(predicted.note());
    const std::size_t columns = flags.out.empty() ? terminal_columns() : 0;
    const bool automatic = flags.format == ReportFormat::automatic;
    text = print(made, automatic && columns > 0 ? ReportFormat::text : flags.format,
                 columns > 0 ? columns : kColumns);
    if (!flags.html.empty()) write_whole(flags.html, html_page(frame, made));
  }
  std::cerr << checks.answer().value_or("warning: the traces could not be checked\n");
  return show(flags, text);
}

}  // namespace

Command report_command() {
  return {
      .name = "report",
      .arguments = "PATH...",
      .summary = "tables of traces or trainings, or of all of a folder: intervals, tests, formats",
      .most = kAnyNumber,
      .flags = with_flags(report)};
}

}  // namespace draftlab
