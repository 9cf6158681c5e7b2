#include "experiments/report.h"

#include <cmath>
#include <iostream>
#include <sstream>

#include "analysis/page/html.h"
#include "analysis/report/acceptance_table.h"
#include "analysis/report/cost.h"
#include "analysis/report/report_print.h"
#include "analysis/report/tree_table.h"
#include "core/base/error.h"
#include "core/base/files.h"

namespace draftlab {
namespace {

std::vector<std::string> list(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');)
    if (!word.empty()) words.push_back(word);
  return words;
}

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

double number(const CommandLine& line, const std::string& flag) {
  if (!line.has(flag)) return 0;
  char* end = nullptr;
  const double value = std::strtod(line.flag(flag).c_str(), &end);
  if (*end != '\0' || !(value > 0))
    throw UsageError("--" + flag + " " + line.flag(flag) + " must be a number above 0");
  return value;
}

int number_of(const CommandLine& line, const std::string& flag) {
  const double value = number(line, flag);
  if (value != std::floor(value) || value > kMostDrafts)
    throw UsageError("--" + flag + " " + line.flag(flag) + " must be a whole number from 1 to " +
                     std::to_string(kMostDrafts));
  return static_cast<int>(value);
}

CostRequest cost_request(const CommandLine& line, const ReportRequest& request) {
  CostRequest cost{request.by, request.baseline};
  cost.bandwidth = 1e9 * number(line, "bandwidth");
  cost.flops = 1e12 * number(line, "flops");
  cost.parameters = number(line, "parameters");
  if ((cost.bandwidth > 0) != (cost.flops > 0))
    throw UsageError("a machine is two numbers: --bandwidth GB/s and --flops TFLOP/s");
  return cost;
}

}  // namespace

int report(const CommandLine& line, const Registries&) {
  ReportRequest request;
  request.by = list(line.flag("by"));
  request.metrics = list(line.flag("metric"));
  request.pivot = line.flag("pivot");
  request.speedup = line.flag("speedup");
  request.baseline = line.flag("baseline");
  request.choose = line.flag("choose");
  request.tune = list(line.flag("tune"));
  if (line.has("html") && (line.has("cost") || line.has("tree") || line.has("dialect") ||
                           line.flag("metric") == "help")) {
    throw UsageError(
        "--html writes the table of arms, and --cost, --tree, --dialect and --metric help print "
        "others; leave one out");
  }
  if (line.has("levels") && !line.has("tree"))
    throw UsageError("--levels bounds the tree of --tree, which is not there");
  const ReportFormat format = report_format_of(line.flag("format", "markdown"));
  const Frame frame(line.paths);
  std::string text;
  if (line.flag("metric") == "help") {
    text = metric_help(frame);
  } else if (line.has("cost")) {
    text = cost_tables(frame, cost_request(line, request));
  } else if (line.has("tree")) {
    text = tree_table(frame, request, number_of(line, "tree"),
                      line.has("levels") ? number_of(line, "levels") : number_of(line, "tree"));
  } else if (line.has("dialect")) {
    text = acceptance_table(frame, request, dialect_of(line.flag("dialect")));
  } else {
    read_declared(frame, request);
    const Report made = make_report(frame, request);
    text = print(made, format);
    if (line.has("html")) write_whole(line.flag("html"), html_page(frame, made));
  }
  if (line.has("out"))
    write_whole(line.flag("out"), text);
  else
    std::cout << text;
  return 0;
}

}  // namespace draftlab
