// `draftlab run CONFIG` decodes every cell of a config in this process, writes the trace and prints
// its table.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/report/summary.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "core/base/progress.h"
#include "core/base/stop_request.h"
#include "core/config/composition.h"
#include "core/trace/provenance.h"
#include "core/trace/trace_file.h"
#include "experiments/arm/loaded_arm.h"
#include "experiments/arm/turns.h"
#include "experiments/command/parse.h"
#include "experiments/commands.h"
#include "experiments/doctor/blas.h"
#include "experiments/story.h"
#include "experiments/sweep/sweep_folder.h"
#include "experiments/terminal.h"

namespace draftlab {
namespace {

struct RunFlags {
  std::string out;
  bool resume = false, timed = false;
  void declare(OptionSet& set) {
    set.add("out", &out).help("Trace to write; without it out/CONFIG.h5.");
    set.add("resume", &resume).help("Decodes only what the trace does not hold yet.");
    set.add("timed", &timed)
        .help(
            "Decodes one sample at a time, with one thread unless run.threads says otherwise, so "
            "that seconds are those of a decode alone.");
  }
};

// Prints the first text of an arm that drafts, if there is one, in colour.
void print_story(const std::string& path, const std::vector<LoadedArm>& arms) {
  const std::int32_t run = arms.size() > 1 ? 1 : 0;  // The first arm often drafts nothing.
  const Tokenizer* const tokenizer = arms[run].tokenizer.get();
  if (!tokenizer) return;
  const Trace trace(path);
  // Samples are sorted by prompt, so the first prompt of every arm stands among the first ones.
  const auto some = static_cast<std::int64_t>(arms.size());
  for (const SampleRow& sample : trace.read(0, std::min(some, trace.samples()))) {
    if (sample.run != run) continue;
    const auto piece = [&](Token token) { return piece_of(tokenizer, token); };
    std::cout << "\n"
              << coloured_story(sample, piece, std::min<std::size_t>(terminal_columns(), 100));
  }
}

// Prints commands that show more of a trace.
void print_next(const std::string& path, std::size_t arms) {
  // The first arm is often one that drafts nothing.
  std::vector<std::pair<std::string, std::string>> commands = {
      {"inspect " + path + (arms > 1 ? " --run 1" : ""), "one decode, step by step"},
      {"check-trace " + path, "is it whole?"}};
  const std::string certificate = "configs/certify/assd/assd-self-k3.ini";
  if (std::filesystem::exists(certificate))
    commands.push_back({"certify " + certificate, "is a decoder lossless?"});
  std::size_t width = 0;
  for (const auto& [command, what] : commands) width = std::max(width, command.size());
  const char* before = "next:  ";
  for (const auto& [command, what] : commands) {
    std::cout << before << program_name() << " " << command
              << std::string(width + 4 - command.size(), ' ') << what << "\n";
    before = "       ";
  }
}

// Warns of options and axes that no part reads, and of arms that therefore decode alike.
void warn_of_unread(const std::vector<LoadedArm>& arms) {
  UnreadInArms unread;
  for (const LoadedArm& arm : arms) unread.add(arm.cell.label, arm.composition);
  for (const std::string& sentence : unread.sentences()) {
    std::cerr << "warning: " << sentence << "\n";
    log(LogLevel::warning, sentence);
  }
}

// Warns of a BLAS that is always slow, where a checkpoint's matrices may be multiplied by it.
void warn_of_blas(const LoadedArm& arm) {
  if (arm.models.target().facts().checkpoint.empty()) return;
  const std::string warning = always_slow(find_blas());
  if (warning.empty()) return;
  std::cerr << warning << "\n";
  log(LogLevel::warning, warning);
}

// How many samples a config asks for.
std::int64_t samples(const std::vector<LoadedArm>& arms) {
  std::int64_t total = 0;
  for (const LoadedArm& arm : arms)
    total += static_cast<std::int64_t>(arm.prompts()) * arm.composition.run.samples;
  return total;
}

// Returns how many processes may decode: one for --timed.
int workers_for(const RunFlags& flags, const std::vector<ComposedArm>& arms) {
  if (!flags.timed) return workers_of(arms);
  const RunOptions& run = arms.front().composition.run;
  if (run.workers > 1 || run.batch > 1)
    throw UsageError("--timed decodes one sample at a time, and run.{} = {} asks for several",
                     run.workers > 1 ? "workers" : "batch",
                     run.workers > 1 ? run.workers : run.batch);
  return 1;
}

std::unique_ptr<TraceWriter> open_trace(const std::string& path, const Provenance& made,
                                        const std::vector<LoadedArm>& arms, bool resume) {
  std::vector<RunRow> runs;
  for (const LoadedArm& arm : arms) runs.push_back(arm.row());
  auto writer = std::make_unique<TraceWriter>(path, TraceHead{made, runs},
                                              arms.front().composition.trace, resume);
  writer->spell_with(
      [&arms](int run, Token token) { return piece_of(arms[run].tokenizer.get(), token); });
  writer->take_prompts_from(
      [&arms](int run, int prompt) { return arms[run].task->prompt(prompt); });
  return writer;
}

// Returns the path of the trace that is to be written.
std::string path_of(const RunFlags& flags, const std::string& config) {
  const std::string ending = std::filesystem::path(flags.out).extension().string();
  if (!ending.empty() && ending != ".h5" && ending != ".hdf5")
    throw UsageError("--out {} is to hold a trace, whose name ends in .h5", flags.out);
  return flags.out.empty() ? trace_path(config, flags.resume) : flags.out;
}

// Loads the arms for as many processes as will decode.
struct LoadedRun {
  std::vector<LoadedArm> arms;
  int workers = 1;
};
LoadedRun load(const RunFlags& flags, std::vector<ComposedArm> composed) {
  const int asked = workers_for(flags, composed);
  for (ComposedArm& arm : composed) {
    int& threads = arm.composition.run.machine.threads;
    if (threads == 0 && (asked > 1 || flags.timed)) threads = 1;
  }
  LoadedRun loaded{load_arms(composed)};
  std::int64_t most = 1;
  for (const LoadedArm& arm : loaded.arms)
    most = std::max(most, arm.prompts() * arm.composition.run.samples);
  // The models of servers, which answer one process, are known by now.
  const std::int64_t workers = asked > 1 ? workers_of(composed) : asked;
  loaded.workers = static_cast<int>(std::min(workers, most));
  return loaded;
}

// Decodes what the trace does not hold yet. Returns whether it was not interrupted.
bool decode(const std::string& path, const LoadedRun& loaded, TraceWriter& writer) {
  const StopOnSignals stopping;
  try {
    const auto there = static_cast<std::int64_t>(writer.finished());
    const std::int64_t total = samples(loaded.arms);
    log(LogLevel::info, path + ": " + std::to_string(loaded.arms.size()) + " arms, " +
                            std::to_string(total) + " samples, of which " + std::to_string(there) +
                            " are there");
    Progress progress("decoding", "samples", total, there);
    decode_missing(loaded.arms, loaded.workers, progress, writer);
  } catch (const Stopped&) {  // The samples in hand are dropped, in the middle of a step.
  }
  return !stop_requested();
}

int run(const RunFlags& flags, const CommandLine& line, const Registries& registries) {
  Diagnostics diagnostics;
  const Config config = Config::read(line.paths[0], line.overrides, diagnostics);
  diagnostics.raise();
  const LoadedRun loaded = load(flags, compose_arms(config, registries));
  const std::vector<LoadedArm>& arms = loaded.arms;
  const RunOptions& options = arms.front().composition.run;
  warn_of_unread(arms);
  warn_of_blas(arms.front());
  if (samples(arms) == 0)
    throw ConfigError("{}: the task has no prompts from run.first = {} on", line.paths[0],
                      options.first);

  const std::string path = path_of(flags, line.paths[0]);
  remove_leftovers(folder_of(path));
  const auto described = [&] {
    Provenance made = provenance(options.machine, options.seed);
    if (!line.python.empty()) made.libraries += ", " + line.python;
    return made;
  };
  Provenance made = described();
  made.workers = loaded.workers;
  made.title = config.title();
  made.config = to_text(config);
  made.plugins = plugins(arms);
  const std::unique_ptr<TraceWriter> writer = open_trace(path, made, arms, flags.resume);
  if (!decode(path, loaded, *writer)) {
    writer->flush();
    std::cerr << "interrupted; what was finished is kept: the same command with --resume --out "
              << path << " continues\n";
    return 130;
  }
  writer->describe_libraries(described().libraries);
  writer->close();

  std::cout << summary(Frame({path}, ColumnReader::Trust::own));
  if (terminal_has_colours()) print_story(path, arms);
  std::cout << "\ntrace: " << path << "\n";
  print_next(path, arms.size());
  return 0;
}

}  // namespace

Command run_command() {
  return {.name = "run",
          .arguments = "CONFIG",
          .summary = "decode every cell of a config, write the trace, print the table",
          .takes_config = true,
          .flags = with_flags(run)};
}

}  // namespace draftlab
