// `draftlab export FILE` writes a trace in other formats: as text files, as the decisions of its
// verifier, what was accepted in the formats of NVIDIA and vLLM, its texts as token ids, its images
// for other programs, or its rows in the files of other trackers, which the Python package writes.
#include <algorithm>
#include <iostream>

#include "analysis/inspect/export_corpus.h"
#include "analysis/inspect/export_csv.h"
#include "analysis/inspect/export_decisions.h"
#include "analysis/inspect/image_sheet.h"
#include "analysis/inspect/speculation.h"
#include "core/base/error.h"
#include "core/config/config.h"
#include "experiments/commands.h"
#include "experiments/python_module.h"
#include "plugins/tasks/images/image_set.h"

namespace draftlab {
namespace {

// What the Python package writes; its module has the same flags.
struct TrackFlags {
  std::string parquet, tensorboard, wandb;
  void declare(OptionSet& set) {
    set.add("parquet", &parquet).help("Folder for a Parquet file a table; needs pyarrow.");
    set.add("tensorboard", &tensorboard)
        .help("Folder for an event file of each arm: its samples' and steps' numbers.");
    set.add("wandb", &wandb)
        .help("Folder for an offline run of each arm, as `wandb sync` reads it; needs wandb.");
  }
  bool given() const { return !parquet.empty() || !tensorboard.empty() || !wandb.empty(); }
};

struct ExportFlags {
  std::string csv, decisions, profile, requests, corpus, images;
  TrackFlags tracks;
  void declare(OptionSet& set) {
    set.add("csv", &csv).help("Folder for run.csv, sample.csv, step.csv, token.csv, draft.csv.");
    set.add("decisions", &decisions)
        .help("File for drafts and decisions, a JSON line a step (docs/AUDIT.md).");
    set.add("profile", &profile)
        .help("Folder for a speculation_profile.json of each run (NVIDIA's schema 1.0).");
    set.add("requests", &requests)
        .help("File for vLLM's statistics of speculation in a request, a JSON line a sample.");
    set.add("corpus", &corpus)
        .help("File for the decoded texts as token ids, a line each, as drafters read them.");
    set.add("images", &images)
        .help(
            "Folder for PNG files, tokens.npy and labels.npy of each arm, and of as many "
            "held-out images.");
    tracks.declare(set);
  }
};

// Exports the images of the task that a run decoded, as its resolved config names them: as many as
// the run has samples, or as there are.
void export_held_out(const std::string& folder, const RunRow& run, std::int64_t samples) {
  Diagnostics diagnostics;
  const Config config = Config::parse(run.config, "the config of the trace", diagnostics);
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
  set.read(own, "task.images", diagnostics);
  diagnostics.raise();
  options.count = std::min(options.count, samples);
  const ImageSet images(options);
  ImageValues values{images.positions(), images.dimension(), {}, {}};
  for (std::int64_t i = 0; i < images.size(); ++i) {
    const ImageSet::Item item = images.item(i);
    for (Eigen::Index t = 0; t < item.tokens.rows(); ++t)
      for (Eigen::Index v = 0; v < item.tokens.cols(); ++v)
        values.tokens.push_back(static_cast<float>(item.tokens(t, v)));
    values.labels.push_back(static_cast<float>(item.label));
  }
  export_images(folder, run.config, values);
}

// Exports the images of every arm, and as many of the task's.
void export_all_images(const std::string& file, const std::string& images) {
  const Trace trace(file);
  for (const std::string& folder : export_images(trace, images)) std::cout << folder << "\n";
  const auto of_images = [](const RunRow& run) {
    return run.config.find("task = images") != std::string::npos;
  };
  const auto run = std::find_if(trace.runs().begin(), trace.runs().end(), of_images);
  if (run == trace.runs().end()) return;
  const std::string folder = images + "/held-out";
  export_held_out(folder, *run, trace.samples() / static_cast<std::int64_t>(trace.runs().size()));
  std::cout << folder << "\n";
}

int export_trace(const ExportFlags& flags, const CommandLine& line, const Registries&) {
  const std::string& file = line.paths.at(0);
  const std::string* const asked[] = {&flags.csv,     &flags.images,   &flags.decisions,
                                      &flags.profile, &flags.requests, &flags.corpus};
  if (std::all_of(std::begin(asked), std::end(asked), [](auto where) { return where->empty(); }) &&
      !flags.tracks.given())
    throw UsageError(
        "draftlab export FILE --csv DIR, --parquet DIR, --tensorboard DIR, --wandb DIR, --images "
        "DIR, --decisions FILE.jsonl, --profile DIR, --requests FILE.jsonl or --corpus FILE.txt: "
        "what to write, and where");
  if (!flags.csv.empty())
    for (const std::string& path : export_csv(file, flags.csv)) std::cout << path << "\n";
  if (!flags.decisions.empty()) {
    const ExportedDecisions done = export_decisions(file, flags.decisions);
    std::cout << flags.decisions << ": " << done.written << " decisions";
    if (done.left_out > 0) std::cout << "; " << done.left_out << " verified steps are no chain";
    std::cout << "\n";
  }
  if (!flags.profile.empty())
    for (const WrittenProfile& profile : export_profiles(file, flags.profile))
      std::cout << profile.path << (profile.stub.empty() ? "" : ": a stub, for " + profile.stub)
                << "\n";
  if (!flags.requests.empty())
    std::cout << flags.requests << ": " << export_requests(file, flags.requests) << " requests\n";
  if (!flags.corpus.empty())
    std::cout << flags.corpus << ": " << export_corpus(file, flags.corpus) << " texts\n";
  if (!flags.images.empty()) export_all_images(file, flags.images);
  if (flags.tracks.given()) {
    TrackFlags tracks = flags.tracks;
    OptionSet set;
    tracks.declare(set);
    become_python_module("draftlab.tracks", set, line.paths);
  }
  return 0;
}

}  // namespace

Command export_command() {
  return {
      .name = "export",
      .arguments = "FILE",
      .summary = "a trace in other formats: text files, trackers, acceptance, token ids, images",
      .flags = with_flags(export_trace)};
}

}  // namespace draftlab
