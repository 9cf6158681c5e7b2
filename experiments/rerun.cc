// `draftlab rerun TRACE` decodes the samples of a trace again, from what the trace holds alone: the
// resolved config of each arm and the tokens of the prompts. It needs the checkpoints and the files
// of plugins, and says which. It then says where a decode first differs from the recorded one.
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "analysis/inspect/first_difference.h"
#include "core/base/error.h"
#include "core/base/progress.h"
#include "core/base/stop_request.h"
#include "core/base/words.h"
#include "core/trace/trace_file.h"
#include "experiments/arm/loaded_arm.h"
#include "experiments/commands.h"
#include "experiments/rerun/recorded_task.h"

namespace draftlab {
namespace {

struct RerunFlags {
  std::int64_t sample = -1;
  void declare(OptionSet& set) {
    set.add("sample", &sample)
        .in(-1, 1e12)
        .help("Row of the sample to decode again, from 0; -1 for all samples.");
  }
};

// What became of the samples of one arm.
struct Outcome {
  std::int64_t samples = 0, alike = 0;
  double numbers = 0;
  // Where the first sample that differs does so.
  std::string first = {};
};

RecordedDrafts recorded_drafts(const Trace& trace) {
  for (const RecordedDrafts choice :
       {RecordedDrafts::none, RecordedDrafts::span, RecordedDrafts::all})
    if (trace.drafts() == word(choice)) return choice;
  throw DataError("'{}' does not say which drafts it records", trace.path());
}

// Throws ConfigError where an arm has parts of a plugin that was not loaded, or that changed.
void check_plugins(const Trace& trace, const RunRow& run, const Registries& registries) {
  std::set<std::string> loaded;
  for (const auto& file : registries.files) loaded.insert(file->digest);
  std::istringstream digests(run.plugins);
  for (std::string digest; digests >> digest;) {
    if (loaded.contains(digest)) continue;
    for (const PluginRow& plugin : trace.provenance().plugins) {
      if (plugin.digest != digest) continue;
      for (const auto& file : registries.files)
        if (file->name == plugin.name)
          throw ConfigError(
              "'{}': arm '{}' was decoded with plugin '{}' of SHA-256 {}, and '{}' has {}: it has "
              "changed since",
              trace.path(), run.arm, plugin.name, digest, file->path, file->digest);
      throw ConfigError(
          "'{}': arm '{}' was decoded with plugin '{}', which lay at '{}' (SHA-256 {}); name it "
          "with --plugin",
          trace.path(), run.arm, plugin.name, plugin.path, digest);
    }
  }
}

// Reads the config of an arm as it was recorded, with the threads of the run and the overrides.
Config config_of(const Trace& trace, const RunRow& run, const CommandLine& line) {
  Diagnostics diagnostics;
  Config config = Config::parse(run.config, trace.path(), diagnostics);
  diagnostics.raise();
  // Files of plugins are found by what is in them, wherever they lie now.
  std::vector<std::string> plugins;
  for (const Config::Entry* entry : config.section("plugins")) plugins.push_back(entry->key);
  for (const std::string& key : plugins) config.erase(key);
  if (trace.provenance().threads > 0)
    config.set({"run.threads", std::to_string(trace.provenance().threads), trace.path()});
  for (const auto& [key, value] : line.overrides) config.set({key, value, "--" + key});
  return config;
}

class Rerun {
 public:
  Rerun(const Trace& trace, const CommandLine& line, const Registries& registries)
      : trace_(trace),
        line_(line),
        registries_(registries),
        recorded_(recorded_drafts(trace)),
        given_(trace.given()),
        samples_(trace.read(false)) {
    if (!trace.has_prompts())
      throw DataError(
          "'{}' does not hold the tokens of its prompts, so it cannot be decoded again; "
          "trace.prompts = true records them, since version 1.8",
          trace.path());
  }

  // Decodes the samples of an arm again that are wanted; -1 stands for all.
  Outcome arm(std::int32_t run, std::int64_t wanted) {
    Outcome outcome;
    std::vector<Job> jobs;
    std::map<std::pair<int, int>, std::int64_t> rows;
    std::map<int, Prompt> prompts;
    for (std::size_t row = 0; row < samples_.size(); ++row) {
      const SampleRow& sample = samples_[row];
      if (sample.run != run || (wanted >= 0 && wanted != static_cast<std::int64_t>(row))) continue;
      jobs.push_back({sample.prompt_index, sample.sample_index});
      rows[{sample.prompt_index, sample.sample_index}] = static_cast<std::int64_t>(row);
      prompts.try_emplace(sample.prompt_index, prompt_of(sample));
    }
    if (jobs.empty()) return outcome;
    const LoadedArm arm = loaded(run, std::move(prompts));
    arm.decode(jobs, [&](const SampleRow& again) {
      const std::int64_t row = rows.at({again.prompt_index, again.sample_index});
      const Difference found = first_difference(trace_.sample(row), again, recorded_);
      ++outcome.samples, outcome.alike += found.what.empty();
      outcome.numbers = std::max(outcome.numbers, found.numbers);
      if (!found.what.empty() && outcome.first.empty())
        outcome.first = "sample " + std::to_string(row) + " (prompt '" + again.prompt_id +
                        "', repeat " + std::to_string(again.sample_index) + "), " + found.what;
      return !stop_requested();
    });
    return outcome;
  }

 private:
  Prompt prompt_of(const SampleRow& sample) const {
    Prompt prompt;
    prompt.id = sample.prompt_id, prompt.length = sample.length;
    const auto found =
        given_.find({first_with_prompts(trace_.runs(), sample.run), sample.prompt_index});
    if (found != given_.end()) add_given(found->second, prompt);
    return prompt;
  }

  LoadedArm loaded(std::int32_t run, std::map<int, Prompt> prompts) {
    const RunRow& row = trace_.runs()[static_cast<std::size_t>(run)];
    check_plugins(trace_, row, registries_);
    Diagnostics diagnostics;
    Composition composition = compose(config_of(trace_, row, line_), registries_, diagnostics);
    diagnostics.raise();
    // The prompts are the trace's, and nothing is scored.
    composition.models.erase("judge");
    composition.task.make = [prompts = std::move(prompts)] {
      return std::make_unique<RecordedTask>(prompts);
    };
    // Tasks of equal values are loaded once, and each arm has prompts of its own.
    composition.task.values.emplace_back("recorded of arm", std::to_string(run));
    models_.release_unused();
    LoadedArm arm = models_.arm({}, std::move(composition));
    const std::string digest = arm.models.target().facts().digest;
    if (digest != row.checkpoint_digest)
      throw DataError("'{}': the digest of checkpoint '{}' was {}, and is {} now", trace_.path(),
                      row.checkpoint, row.checkpoint_digest, digest);
    return arm;
  }

  const Trace& trace_;
  const CommandLine& line_;
  const Registries& registries_;
  const RecordedDrafts recorded_;
  const GivenRows given_;
  const std::vector<SampleRow> samples_;
  ModelCache models_;
};

int rerun(const RerunFlags& flags, const CommandLine& line, const Registries& registries) {
  const Trace trace(line.paths[0]);
  if (flags.sample >= trace.samples())
    throw UsageError("--sample {}: '{}' has samples 0 to {}", flags.sample, trace.path(),
                     trace.samples() - 1);
  const StopOnSignals stopping;
  Rerun rerun(trace, line, registries);
  bool alike = true;
  for (std::size_t run = 0; run < trace.runs().size() && !stop_requested(); ++run) {
    const Outcome outcome = rerun.arm(static_cast<std::int32_t>(run), flags.sample);
    if (outcome.samples == 0) continue;
    alike = alike && outcome.alike == outcome.samples;
    char numbers[32];
    std::snprintf(numbers, sizeof numbers, "%.2g", outcome.numbers);
    std::cout << (trace.runs()[run].arm.empty() ? "the arm" : trace.runs()[run].arm) << ": "
              << outcome.alike << " of " << outcome.samples
              << " samples as recorded, probabilities within " << numbers << "\n";
    if (!outcome.first.empty()) std::cout << "  first difference: " << outcome.first << "\n";
  }
  return stop_requested() ? 130 : alike ? 0 : 1;
}

}  // namespace

Command rerun_command() {
  return {.name = "rerun",
          .arguments = "TRACE",
          .summary = "decodes again from a trace alone, and says where it first differs",
          .takes_config = true,
          .flags = with_flags(rerun)};
}

}  // namespace draftlab
