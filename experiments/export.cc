#include "experiments/export.h"

#include <algorithm>
#include <iostream>

#include "analysis/trace/export_corpus.h"
#include "analysis/trace/export_csv.h"
#include "analysis/trace/export_decisions.h"
#include "analysis/trace/image_sheet.h"
#include "analysis/trace/speculation.h"
#include "core/base/error.h"
#include "plugins/tasks/images/image_set.h"

namespace draftlab {
namespace {

// Exports the images of the task that a run decoded, as its resolved config names them: as many as
// the run has samples, or as there are.
void export_held_out(const std::string& folder, const RunRow& run, std::int64_t samples) {
  Faults faults;
  const Config config = Config::parse(run.config, "the config of the trace", faults);
  ImageSetOptions options;
  OptionSet set;
  options.declare(set);
  Config own;  // The task has other options besides these.
  for (const Config::Entry* const entry : config.section("task.images")) {
    const auto known = [&](const Option& option) {
      return entry->key == "task.images." + option.name();
    };
    if (std::any_of(set.options().begin(), set.options().end(), known)) own.set(*entry);
  }
  set.read(own, "task.images", faults);
  faults.raise();
  options.count = std::min(options.count, samples);
  const ImageSet images(options);
  std::vector<float> tokens, labels;
  for (std::int64_t i = 0; i < images.size(); ++i) {
    const ImageSet::Item item = images.item(i);
    for (Eigen::Index t = 0; t < item.tokens.rows(); ++t)
      for (Eigen::Index v = 0; v < item.tokens.cols(); ++v)
        tokens.push_back(static_cast<float>(item.tokens(t, v)));
    labels.push_back(static_cast<float>(item.label));
  }
  export_images(folder, run.config, images.positions(), images.dimension(), tokens, labels);
}

}  // namespace

int export_trace(const CommandLine& line, const Registries&) {
  const char* const kinds[] = {"csv", "images", "decisions", "profile", "requests", "corpus"};
  if (std::none_of(std::begin(kinds), std::end(kinds), [&](auto kind) { return line.has(kind); }))
    throw UsageError(
        "draftlab export FILE --csv DIR, --images DIR, --decisions FILE.jsonl, --profile DIR, "
        "--requests FILE.jsonl or --corpus FILE.txt: what to write, and where");
  if (line.has("csv"))
    for (const std::string& path : export_csv(line.paths.at(0), line.flag("csv")))
      std::cout << path << "\n";
  if (line.has("decisions")) {
    const ExportedDecisions done = export_decisions(line.paths.at(0), line.flag("decisions"));
    std::cout << line.flag("decisions") << ": " << done.written << " decisions";
    if (done.left_out > 0) std::cout << "; " << done.left_out << " verified steps are no chain";
    std::cout << "\n";
  }
  if (line.has("profile"))
    for (const WrittenProfile& profile : export_profiles(line.paths.at(0), line.flag("profile")))
      std::cout << profile.path << (profile.stub.empty() ? "" : ": a stub, for " + profile.stub)
                << "\n";
  if (line.has("requests"))
    std::cout << line.flag("requests") << ": "
              << export_requests(line.paths.at(0), line.flag("requests")) << " requests\n";
  if (line.has("corpus"))
    std::cout << line.flag("corpus") << ": " << export_corpus(line.paths.at(0), line.flag("corpus"))
              << " texts\n";
  if (!line.has("images")) return 0;
  const Trace trace(line.paths.at(0));
  for (const std::string& folder : export_images(trace, line.flag("images")))
    std::cout << folder << "\n";
  const auto of_images = [](const RunRow& run) {
    return run.config.find("task = images") != std::string::npos;
  };
  const auto run = std::find_if(trace.runs().begin(), trace.runs().end(), of_images);
  if (run == trace.runs().end()) return 0;
  const std::string folder = line.flag("images") + "/held-out";
  export_held_out(folder, *run, trace.samples() / static_cast<std::int64_t>(trace.runs().size()));
  std::cout << folder << "\n";
  return 0;
}

}  // namespace draftlab
