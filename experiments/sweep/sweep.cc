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
#include "experiments/sweep/slurm.h"
#include "experiments/sweep/slurm_options.h"
#include "experiments/sweep/sweep_change.h"
#include "experiments/sweep/sweep_estimate.h"
#include "experiments/sweep/sweep_local.h"
#include "experiments/sweep/sweep_status.h"
#include "experiments/sweep/sweep_worker.h"

namespace draftlab {
namespace {

constexpr std::size_t kMostSummarised = 40;  // cells in the table at the end

std::int64_t number(const CommandLine& line, const std::string& flag, std::int64_t otherwise,
                    std::int64_t least) {
  if (!line.has(flag)) return otherwise;
  const std::string text = line.flag(flag);
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || value < least) {
    throw UsageError("--" + flag + " = " + text + " must be a whole number, at least " +
                     std::to_string(least));
  }
  return value;
}

void set_cells(const CommandLine& line, WorkerOptions& options) {
  if (!line.has("cells")) return;
  const std::string text = line.flag("cells");
  const std::size_t colon = text.find(':');
  CommandLine halves;
  halves.flags = {{"cells", text.substr(0, colon)},
                  {"cells to", colon == std::string::npos ? "" : text.substr(colon + 1)}};
  options.first = static_cast<std::size_t>(number(halves, "cells", 0, 0));
  options.last = static_cast<std::size_t>(number(halves, "cells to", 0, 0));
}

// What --dry-run prints: every cell, before anything is loaded.
int dry_run(const Config& config, const Registries& registries) {
  Faults faults;
  const std::vector<Cell> cells = expand(config, registries, faults);
  faults.raise();
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
  for (const std::string& sentence : read_sweep(config, faults).warnings)
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
    const Frame frame({folder.result()});
    if (frame.arms().size() <= kMostSummarised) std::cout << summary(frame) << "\n";
  }
  if (!went_through) {
    std::cerr << "interrupted; what was finished is kept: draftlab sweep " << folder.path()
              << " continues\n";
    return 130;
  }
  if (!whole)
    std::cout << "next:  draftlab sweep " << folder.path()
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

}  // namespace

std::vector<std::string> frozen_plugins(const std::string& path) {
  return SweepFolder::is_one(path) ? SweepFolder::plugins(path) : std::vector<std::string>{};
}

int sweep(const CommandLine& line, const Registries& registries) {
  const std::string& path = line.paths[0];
  const bool is_folder = std::filesystem::is_directory(path);
  if (line.has("worker")) {
    WorkerOptions options;
    for (const auto& [key, value] : line.overrides) {
      if (key != "run.threads")
        throw UsageError("a worker decodes what was frozen, so --" + key + " means nothing to it");
      options.threads = std::atoi(value.c_str());
    }
    options.report = static_cast<int>(number(line, "report", -1, 0));
    options.round = line.flag("round", process_identity());
    set_cells(line, options);
    const SlurmJob job = slurm_job();
    options.job = job.id, options.requeued = job.requeued, options.seconds_left = job.seconds_left;
    options.wait =
        line.has("requeue") || options.report >= 0;  // a whole sweep ends when every cell has
    if (line.has("requeue") && !job.id.empty())
      options.at_exit = [&] { std::cout << requeue(job) << std::endl; };
    return work(SweepFolder::open(path, registries), options, registries);
  }
  if (is_folder && !line.overrides.empty()) {
    throw UsageError("'" + path + "' holds a frozen config; to change --" +
                     line.overrides[0].first + ", give the config itself and --out " + path);
  }
  if (!is_folder && line.has("dry-run")) {
    Faults faults;
    const Config config = Config::read(path, line.overrides, faults);
    faults.raise();
    return dry_run(config, registries);
  }
  const auto begun = [&] {
    if (is_folder) return SweepFolder::open(path, registries);
    Faults faults;
    const Config config = Config::read(path, line.overrides, faults);
    faults.raise();
    const std::string out = line.flag("out", "out/" + std::filesystem::path(path).stem().string());
    if (!SweepFolder::may_begin(out))
      throw OutputError("'" + out +
                        "' exists and is no folder of a sweep; name another with --out");
    const std::string parts_changed = plugin_change(out, line.plugins);
    if (!line.has("replace")) {
      if (const std::string change = config_change(out, config, registries); !change.empty())
        throw OutputError(change);
      if (!parts_changed.empty()) throw OutputError(parts_changed);
    }
    SweepFolder frozen = SweepFolder::freeze(out, config, line.plugins, registries);
    if (line.has("replace")) frozen.remove_cells(!parts_changed.empty());
    return frozen;
  };
  SweepFolder folder = begun();
  if (line.has("dry-run")) return dry_run(folder.config(), registries);
  if (line.has("cancel")) {
    folder.cancel(true);
    if (const std::string said = cancel_jobs(folder); !said.empty())
      std::cerr << "Slurm did not end the jobs: " << said << "\n";
    std::cout << "workers of " << folder.path() << " stop after the sample in hand; draftlab sweep "
              << folder.path() << " continues\n";
    return 0;
  }
  if (line.has("gather") || line.has("status")) settle_with_slurm(folder);
  if (line.has("status")) return print_status(folder, manifest(folder), std::cout) ? 0 : 1;
  if (line.has("gather")) {
    set_aside(folder);
    return finish(folder, true);
  }
  if (line.has("estimate")) return estimate(folder, registries);
  for (const char* const part : {"", "/cells", "/attempts"}) remove_leftovers(folder.path() + part);
  folder.cancel(false);
  if (line.has("retry")) std::cout << forgive_failures(folder) << " failures forgotten\n";
  forgive_interrupted(folder);
  if (line.has("slurm")) {
    Faults faults;
    const SlurmOptions options =
        compose(folder.cells()[0].cell.config, registries, faults).section<SlurmOptions>();
    settle_with_slurm(folder);
    return submit(folder, options, line.passed);
  }
  const int jobs = static_cast<int>(number(line, "jobs", 1, 1));
  bool went_through = run_locally(folder, jobs);
  if (went_through && set_aside(folder)) went_through = run_locally(folder, jobs);
  return finish(folder, went_through);
}

}  // namespace draftlab
