#include "experiments/sweep/sweep.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>

#include "analysis/report/summary.h"
#include "core/base/files.h"
#include "core/config/composition.h"
#include "core/config/sweep_axes.h"
#include "core/trace/trace_file.h"
#include "experiments/command/parse.h"
#include "experiments/sweep/slurm.h"
#include "experiments/sweep/slurm_options.h"
#include "experiments/sweep/sweep_change.h"
#include "experiments/sweep/sweep_estimate.h"
#include "experiments/sweep/sweep_local.h"
#include "experiments/sweep/sweep_status.h"
#include "experiments/sweep/sweep_worker.h"

namespace draftlab {
namespace {

constexpr std::size_t kMostSummarised = 40;  // The most cells that the table at the end shows.

struct SweepFlags {
  std::string out, cells, round;
  std::int64_t jobs = 1, report = -1;
  double sample_seconds = -1;
  bool dry_run = false, estimate = false, resume = false, replace = false, worker = false;
  bool status = false, cancel = false, retry = false, gather = false, requeue = false;
  void declare(OptionSet& set) {
    set.add("out", &out).help("Folder of the sweep; without it out/CONFIG.");
    set.add("jobs", &jobs).in(1, 4096).help("Worker processes.");
    set.add("sample-seconds", &sample_seconds)
        .in(-1, 1e9)
        .help(
            "Seconds after which a sample fails its cell; 0: no limit; -1: the value that the "
            "folder has.");
    set.add("dry-run", &dry_run).help("Prints the table of cells and does nothing.");
    set.add("estimate", &estimate)
        .help("Decodes a few steps, prints core-hours, walltime and memory.");
    set.add("resume", &resume)
        .help("Decodes what is missing, with the config as it is now; this is the default.");
    set.add("replace", &replace)
        .help("Another config takes over the folder: removes what only the old one decoded.");
    set.add("worker", &worker).help("Decodes one cell of DIR after another until none is left.");
    set.add("cells", &cells).help("A:B: only these cells, counted from 0.");
    set.add("status", &status).help("Prints the state of each cell of DIR.");
    set.add("cancel", &cancel).help("Stops workers and jobs of DIR.");
    set.add("retry", &retry).help("Forgets failures of DIR, then goes on.");
    set.add("gather", &gather).help("Merges what is done into DIR/sweep.h5.");
    set.add("requeue", &requeue)
        .help(
            "With --worker in a Slurm job: waits for cells that others hold, and requeues the "
            "job when it is stopped.");
    set.add("report", &report).in(-1, 1e6).help("For a worker: file descriptor to report to.");
    set.add("round", &round).help("For a worker: name of the run that started it.");
  }
};

std::size_t cell_number(const std::string& text) {
  std::size_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size())
    throw UsageError("--cells takes two whole numbers A:B, and '{}' is none", text);
  return value;
}

void set_cells(const std::string& text, WorkerOptions& options) {
  const std::size_t colon = text.find(':');
  options.first = cell_number(text.substr(0, colon));
  options.last = cell_number(colon == std::string::npos ? "" : text.substr(colon + 1));
}

// What --dry-run prints: every cell, before anything is loaded.
int dry_run(const Config& config, const Registries& registries) {
  Diagnostics diagnostics;
  const std::vector<Cell> cells = expand(config, registries, diagnostics);
  diagnostics.raise();
  const bool baseline = config.find("sweep.baseline");
  std::string text = std::to_string(cells.size()) + (cells.size() == 1 ? " cell\n" : " cells\n");
  for (const Cell& cell : cells) {
    text.append("  ")
        .append(cell.id)
        .append("  ")
        .append(cell.label)
        .append(baseline && &cell == cells.data() ? "  (baseline)\n" : "\n");
  }
  std::cout << text;
  for (const std::string& sentence : read_sweep(config, diagnostics).warnings)
    std::cout << "  warning: " << sentence << "\n";
  for (const std::string& sentence : without_effect(cells, registries))
    std::cout << "  warning: " << sentence << "\n";
  return 0;
}

// Only one process gathers at a time: the one that begins last knows most, and its result is to
// stay. Where a file system has no locks, none is had.
class Gathering {
 public:
  explicit Gathering(const SweepFolder& folder)
      : fd_(::open((folder.path() + "/gathering").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (fd_ >= 0) ::flock(fd_, LOCK_EX);
  }
  ~Gathering() {
    if (fd_ >= 0) ::close(fd_);
  }
  Gathering(const Gathering&) = delete;

 private:
  int fd_;
};

int finish(const SweepFolder& folder, bool went_through) {
  const Gathering alone(folder);
  const Manifest cells = manifest(folder);
  const bool gathered = gather(folder, cells);
  const bool whole = print_status(folder, cells, std::cout);
  if (gathered) {
    std::cout << "trace: " << folder.result() << "\n";
    const Frame frame({folder.result()}, ColumnReader::Trust::own);
    if (frame.arms().size() <= kMostSummarised) std::cout << summary(frame) << "\n";
  }
  if (!went_through) {
    std::cerr << "interrupted; what was finished is kept: " << program_name() << " sweep "
              << folder.path() << " continues\n";
    return 130;
  }
  if (!whole)
    std::cout << "next:  " << program_name() << " sweep " << folder.path()
              << "    tries again what failed, up to three times; --retry begins anew\n";
  return whole ? 0 : 1;
}

// Whether traces of cells that were done are damaged; they are put aside then.
bool set_aside(const SweepFolder& folder) {
  const std::size_t count = folder.set_aside_damaged();
  if (count == 0) return false;
  std::cerr << count << (count == 1 ? " trace of a cell was" : " traces of cells were")
            << " damaged since it was decoded; what is left of it is kept as cells/*" << kDamaged
            << ", and the cell is decoded again\n";
  return true;
}

// Decodes cells of a frozen sweep in this process.
int work_as(const SweepFlags& flags, const CommandLine& line, const Registries& registries) {
  WorkerOptions options;
  for (const auto& [key, value] : line.overrides) {
    if (key != "run.threads")
      throw UsageError("a worker decodes what was frozen, so --{} means nothing to it", key);
    options.threads = std::atoi(value.c_str());
  }
  options.report = static_cast<int>(flags.report);
  options.round = flags.round.empty() ? process_identity() : flags.round;
  if (!flags.cells.empty()) set_cells(flags.cells, options);
  const SlurmJob job = slurm_job();
  options.job = job.id, options.requeued = job.requeued, options.seconds_left = job.seconds_left;
  options.wait = flags.requeue || options.report >= 0;  // A whole sweep ends when every cell has.
  if (flags.requeue && !job.id.empty())
    options.at_exit = [&] { std::cout << requeue(job) << std::endl; };
  return work(SweepFolder::open(line.paths[0], registries), options, registries);
}

// Freezes a config into the folder of a sweep, or goes on with what was frozen there.
SweepFolder begin(const SweepFlags& flags, const CommandLine& line, const Registries& registries) {
  const std::string& path = line.paths[0];
  const std::string out =
      flags.out.empty() ? "out/" + std::filesystem::path(path).stem().string() : flags.out;
  Diagnostics diagnostics;
  const Config config = Config::read(path, with_added_arms(out, line.overrides), diagnostics);
  diagnostics.raise();
  if (out.find_first_of("\r\n") != std::string::npos)
    throw UsageError("--out has an end of line in its name, which no script of a job may hold");
  if (!SweepFolder::may_begin(out))
    throw OutputError("'{}' exists and is no folder of a sweep; name another with --out", out);
  const std::string parts_changed = plugin_change(out, registries);
  if (!flags.replace) {
    if (!parts_changed.empty()) throw OutputError(parts_changed);
    if (const std::string change = config_change(out, config, registries); !change.empty())
      throw OutputError(change);
  }
  SweepFolder frozen = SweepFolder::freeze(out, config, registries);
  if (flags.replace) frozen.remove_cells(!parts_changed.empty());
  return frozen;
}

int cancel(SweepFolder& folder) {
  folder.cancel(true);
  if (const std::string said = cancel_jobs(folder); !said.empty())
    std::cerr << "Slurm did not end the jobs: " << said << "\n";
  std::cout << "workers of " << folder.path() << " stop after the sample in hand; "
            << program_name() << " sweep " << folder.path() << " continues\n";
  return 0;
}

// Does what needs the list of a sweep's cells and no part of any: no plugin is loaded, so a folder
// that somebody else wrote runs nothing here.
int look(const SweepFlags& flags, const std::string& path) {
  SweepFolder folder = SweepFolder::open_list(path);
  if (flags.sample_seconds >= 0) folder.remember_sample_seconds(flags.sample_seconds);
  if (flags.cancel) return cancel(folder);
  settle_with_slurm(folder);
  if (flags.status) return print_status(folder, manifest(folder), std::cout) ? 0 : 1;
  set_aside(folder);
  return finish(folder, true);
}

int sweep(const SweepFlags& flags, const CommandLine& line, const Registries& registries) {
  const std::string& path = line.paths[0];
  if (flags.worker) return work_as(flags, line, registries);
  const bool is_folder = std::filesystem::is_directory(path);
  if (is_folder && !line.overrides.empty()) {
    throw UsageError(
        "'{}' holds a frozen config; to change --{}, give the config itself and --out {}", path,
        line.overrides[0].first, path);
  }
  if (flags.status || flags.gather || flags.cancel) return look(flags, path);
  if (!is_folder && flags.dry_run) {
    Diagnostics diagnostics;
    const Config config = Config::read(path, line.overrides, diagnostics);
    diagnostics.raise();
    return dry_run(config, registries);
  }
  SweepFolder folder =
      is_folder ? SweepFolder::open(path, registries) : begin(flags, line, registries);
  if (flags.sample_seconds >= 0) folder.remember_sample_seconds(flags.sample_seconds);
  if (flags.dry_run) return dry_run(folder.config(), registries);
  if (flags.estimate) return estimate(folder, registries);
  for (const char* const part : {"", "/cells", "/attempts"}) remove_leftovers(folder.path() + part);
  folder.cancel(false);
  if (flags.retry) std::cout << forgive_failures(folder) << " failures forgotten\n";
  forgive_interrupted(folder);
  if (line.passes) {
    Diagnostics diagnostics;
    const SlurmOptions options =
        composition_of(folder.cells()[0].cell, registries, diagnostics).section<SlurmOptions>();
    settle_with_slurm(folder);
    return submit(folder, options, line.passed);
  }
  const int jobs = static_cast<int>(flags.jobs);
  bool went_through = run_locally(folder, jobs);
  if (went_through && set_aside(folder)) went_through = run_locally(folder, jobs);
  return finish(folder, went_through);
}

}  // namespace

Command sweep_command() {
  return {.name = "sweep",
          .arguments = "CONFIG|DIR",
          .summary =
              "decode every cell of a config, each on its own: in several processes, or on a "
              "cluster",
          .takes_config = true,
          .without_plugins = {"status", "gather", "cancel"},
          .flags = with_flags(sweep),
          .last = "slurm",
          .last_arguments = "[SBATCH OPTION]...",
          .last_help = "Submits to Slurm; it comes last, and what follows goes to sbatch."};
}

}  // namespace draftlab
