#include "experiments/run.h"

#include <csignal>
#include <filesystem>
#include <iostream>

#include "analysis/summary.h"
#include "core/progress.h"
#include "core/provenance.h"
#include "core/trace_hdf5.h"
#include "experiments/arm.h"
#include "experiments/doctor.h"

namespace draftlab {
namespace {

volatile std::sig_atomic_t interrupted = 0;
void interrupt(int) { interrupted = 1; }

// The prompts that an arm still has to decode, in groups that share their forwards.
std::vector<std::vector<int>> groups(const Arm& arm, int run, int sample, const TraceWriter& writer) {
  std::vector<std::vector<int>> groups;
  for (int i = 0; i < arm.prompts(); ++i) {
    const int prompt = static_cast<int>(arm.composition.run.first) + i;
    if (groups.empty() || groups.back().size() == static_cast<std::size_t>(arm.composition.run.batch)) groups.emplace_back();
    if (!writer.finished(run, prompt, sample)) groups.back().push_back(prompt);
  }
  return groups;
}

}  // namespace

int run(const CommandLine& line, const Registries& registries) {
  if (line.paths.size() != 1) throw UsageError("draftlab run takes one config file");
  Faults faults;
  const Config config = Config::read(line.paths[0], line.overrides, faults);
  faults.raise();
  std::vector<Arm> arms = load_arms(config, registries);
  const Composition& first = arms.front().composition;
  if (!arms.front().models.target().facts().checkpoint.empty()) {
    if (const std::string warning = blas_warning(); !warning.empty()) std::cerr << warning << "\n";
  }
  std::vector<RunRow> runs;
  std::int64_t total = 0;
  for (const Arm& arm : arms) {
    runs.push_back(arm.row());
    total += static_cast<std::int64_t>(arm.prompts()) * arm.composition.run.samples;
  }
  if (total == 0) throw ConfigError(line.paths[0] + ": the task has no prompts from run.first = " + std::to_string(first.run.first) + " on");

  const bool resume = line.has("resume");
  const std::string path = line.flag("out", trace_path(line.paths[0], resume));
  Provenance made = provenance(first.run.machine, first.run.seed);
  made.title = config.title();
  made.config = first.resolved;
  TraceWriter writer(path, made, runs, first.trace, resume);
  writer.spell_with([&](int run, Token token) {
    const Tokenizer* tokenizer = arms[run].tokenizer.get();
    return tokenizer && token >= 0 && token < tokenizer->vocabulary() ? tokenizer->piece(token) : std::string();
  });

  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
  {
    auto done = static_cast<std::int64_t>(writer.finished());
    Progress progress("decoding", "samples", total, done);
    // Arms take turns on the same prompts, forwards and backwards (A B B A), so that a machine that speeds up or slows down
    // does so for all of them.
    for (std::int64_t sample = 0; sample < first.run.samples && !interrupted; ++sample) {
      std::vector<std::vector<std::vector<int>>> work;
      std::size_t most = 0;
      for (std::size_t arm = 0; arm < arms.size(); ++arm) {
        work.push_back(sample < arms[arm].composition.run.samples ? groups(arms[arm], static_cast<int>(arm), static_cast<int>(sample), writer)
                                                                  : std::vector<std::vector<int>>{});
        most = std::max(most, work.back().size());
      }
      for (std::size_t group = 0; group < most && !interrupted; ++group) {
        for (std::size_t turn = 0; turn < arms.size() && !interrupted; ++turn) {
          const std::size_t arm = group % 2 == 0 ? turn : arms.size() - 1 - turn;
          if (group >= work[arm].size() || work[arm][group].empty()) continue;
          for (SampleRow& row : arms[arm].decode(work[arm][group], static_cast<int>(sample))) {
            row.run = static_cast<std::int32_t>(arm);
            writer.sample(std::move(row));
            progress.at(++done, arms[arm].label);
          }
        }
      }
    }
  }
  if (interrupted) {
    writer.flush();
    std::cerr << "interrupted; what was finished is kept: the same command with --resume --out " << path << " continues\n";
    return 130;
  }
  writer.close();

  const Trace trace(path);
  std::cout << summary(trace.runs(), trace.read(false), first.report) << "\ntrace: " << path << "\nnext:  draftlab inspect " << path
            << " --sample 0    one trajectory, step by step\n       draftlab check-trace " << path
            << "        is it whole\n       draftlab certify configs/certify/assd-self-k3.ini    is the decoder lossless\n";
  return 0;
}

}  // namespace draftlab
