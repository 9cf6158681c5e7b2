#include "experiments/run.h"

#include <csignal>
#include <filesystem>
#include <iostream>

#include "analysis/report/summary.h"
#include "core/base/files.h"
#include "core/base/progress.h"
#include "core/config/composition.h"
#include "core/trace/provenance.h"
#include "core/trace/trace_file.h"
#include "experiments/arm/loaded_arm.h"
#include "experiments/doctor.h"

namespace draftlab {
namespace {

volatile std::sig_atomic_t interrupted = 0;
void interrupt(int) { interrupted = 1; }

// What an arm still has to decode.
std::vector<Job> missing(const LoadedArm& arm, int run, const TraceWriter& writer) {
  std::vector<Job> jobs;
  for (int sample = 0; sample < static_cast<int>(arm.composition.run.samples); ++sample) {
    for (int i = 0; i < arm.prompts(); ++i) {
      const int prompt = static_cast<int>(arm.composition.run.first) + i;
      if (!writer.finished(run, prompt, sample)) jobs.push_back({prompt, sample});
    }
  }
  return jobs;
}

}  // namespace

int run(const CommandLine& line, const Registries& registries) {
  if (line.paths.size() != 1) throw UsageError("draftlab run takes one config file");
  Faults faults;
  const Config config = Config::read(line.paths[0], line.overrides, faults);
  faults.raise();
  std::vector<LoadedArm> arms = load_arms(config, registries);
  const Composition& first = arms.front().composition;
  if (!arms.front().models.target().facts().checkpoint.empty()) {
    if (const std::string warning = blas_warning(); !warning.empty()) std::cerr << warning << "\n";
  }
  std::vector<RunRow> runs;
  std::int64_t total = 0;
  for (const LoadedArm& arm : arms) {
    runs.push_back(arm.row());
    total += static_cast<std::int64_t>(arm.prompts()) * arm.composition.run.samples;
  }
  if (total == 0)
    throw ConfigError(line.paths[0] + ": the task has no prompts from run.first = " +
                      std::to_string(first.run.first) + " on");

  const bool resume = line.has("resume");
  const std::string path = line.flag("out", trace_path(line.paths[0], resume));
  remove_leftovers(folder_of(path));
  Provenance made = provenance(first.run.machine, first.run.seed);
  made.title = config.title();
  made.config = first.resolved;
  TraceWriter writer(path, made, runs, first.trace, resume);
  writer.spell_with([&](int run, Token token) {
    const Tokenizer* tokenizer = arms[run].tokenizer.get();
    return tokenizer && token >= 0 && token < tokenizer->vocabulary() ? tokenizer->piece(token)
                                                                      : std::string();
  });

  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
  {
    auto done = static_cast<std::int64_t>(writer.finished());
    Progress progress("decoding", "samples", total, done);
    // At batch 1 arms take turns on the same prompts, forwards and backwards (A B B A), so that a
    // machine that speeds up or slows down does so for all of them. In a batch samples have no
    // times of their own, and each arm decodes all of its own.
    std::vector<std::vector<Job>> work;
    for (std::size_t arm = 0; arm < arms.size(); ++arm)
      work.push_back(missing(arms[arm], static_cast<int>(arm), writer));
    std::size_t most = 0;
    for (const std::vector<Job>& jobs : work) most = std::max(most, jobs.size());
    const std::size_t together = first.run.batch > 1 ? std::max<std::size_t>(most, 1) : 1;
    for (std::size_t turn = 0; turn * together < most && !interrupted; ++turn) {
      for (std::size_t place = 0; place < arms.size() && !interrupted; ++place) {
        const std::size_t arm = turn % 2 == 0 ? place : arms.size() - 1 - place;
        const std::size_t begin = std::min(turn * together, work[arm].size()),
                          end = std::min(begin + together, work[arm].size());
        arms[arm].decode(std::span(work[arm]).subspan(begin, end - begin), [&](SampleRow row) {
          row.run = static_cast<std::int32_t>(arm);
          writer.sample(std::move(row));
          progress.at(++done, arms[arm].label);
          return !interrupted;
        });
      }
    }
  }
  if (interrupted) {
    writer.flush();
    std::cerr << "interrupted; what was finished is kept: the same command with --resume --out "
              << path << " continues\n";
    return 130;
  }
  writer.close();

  const Trace trace(path, ColumnReader::Trust::own);
  std::cout << summary(trace.runs(), trace.read(false), first.section<ReportOptions>())
            << "\ntrace: " << path << "\nnext:  draftlab inspect " << path
            << " --sample 0    one trajectory, step by step\n       draftlab check-trace " << path
            << "        is it whole\n       draftlab certify configs/certify/assd-self-k3.ini    "
               "is the decoder lossless\n";
  return 0;
}

}  // namespace draftlab
