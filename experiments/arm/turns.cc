#include "experiments/arm/turns.h"

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "core/base/copies.h"
#include "core/base/cores.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/stop_request.h"
#include "plugins/remote/python_plugin.h"

namespace draftlab {
namespace {

// Says why copies of this process cannot decode these arms; "" where they can.
std::string needs_one_worker(const std::vector<ComposedArm>& arms) {
  const RunOptions& run = arms.front().composition.run;
  if (run.batch > 1) return "run.batch = " + std::to_string(run.batch) + " decodes in one process";
  if (run.machine.threads > 1)
    return "run.threads = " + std::to_string(run.machine.threads) +
           ", and each of several workers computes with one thread";
  for (const ComposedArm& arm : arms)
    if (arm.composition.run.machine.device != Device::cpu)
      return "run.device = " + std::string(word(arm.composition.run.machine.device)) +
             " serves one process";
  return has_remote_parts() ? "parts in Python and models of servers answer one process" : "";
}

// The samples that each arm still has to decode, in the order of prompts.
std::vector<std::vector<Job>> missing(const std::vector<LoadedArm>& arms,
                                      const TraceWriter& writer) {
  std::vector<std::vector<Job>> work(arms.size());
  for (std::size_t a = 0; a < arms.size(); ++a) {
    const RunOptions& run = arms[a].composition.run;
    for (int sample = 0; sample < static_cast<int>(run.samples); ++sample) {
      for (int i = 0; i < arms[a].prompts(); ++i) {
        const int prompt = static_cast<int>(run.first) + i;
        if (!writer.finished(static_cast<int>(a), prompt, sample))
          work[a].push_back({prompt, sample});
      }
    }
  }
  return work;
}

class Turns {
 public:
  Turns(const std::vector<LoadedArm>& arms, const TraceWriter& writer)
      : arms_(arms), work_(missing(arms, writer)) {
    std::size_t most = 0;
    for (const std::vector<Job>& jobs : work_) most = std::max(most, jobs.size());
    const bool batched = arms.front().composition.run.batch > 1;
    together_ = batched ? std::max<std::size_t>(most, 1) : 1;
    count_ = (most + together_ - 1) / together_;
  }

  std::size_t count() const { return count_; }

  // Decodes the samples of one turn, each arm's in its place, and hands them over.
  void decode(std::size_t turn, const std::function<void(SampleRow)>& finished) const {
    for (std::size_t place = 0; place < arms_.size() && !stop_requested(); ++place) {
      const std::size_t arm = turn % 2 == 0 ? place : arms_.size() - 1 - place;
      const std::size_t begin = std::min(turn * together_, work_[arm].size()),
                        end = std::min(begin + together_, work_[arm].size());
      arms_[arm].decode(std::span(work_[arm]).subspan(begin, end - begin), [&](SampleRow row) {
        row.run = static_cast<std::int32_t>(arm);
        log(LogLevel::debug, arms_[arm].cell.label + ": prompt " +
                                 std::to_string(row.prompt_index) + ", " +
                                 std::to_string(row.generated) + " tokens, NFE " +
                                 std::to_string(row.counts.nfe()) + ", " + duration(row.seconds));
        finished(std::move(row));
        return !stop_requested();
      });
    }
  }

 private:
  const std::vector<LoadedArm>& arms_;
  std::vector<std::vector<Job>> work_;
  std::size_t together_ = 1, count_ = 0;
};

}  // namespace

int workers_of(const std::vector<ComposedArm>& arms) {
  const std::int64_t wanted = arms.front().composition.run.workers;
  if (wanted == 1) return 1;
  const std::string reason = needs_one_worker(arms);
  if (reason.empty()) return wanted > 0 ? static_cast<int>(wanted) : usable_threads();
  if (wanted == 0) return 1;
  throw ConfigError("run.workers = {} cannot be: {}; run.workers = 1 can", wanted, reason);
}

void decode_missing(const std::vector<LoadedArm>& arms, int workers, Progress& progress,
                    TraceWriter& writer) {
  const Turns turns(arms, writer);
  auto done = static_cast<std::int64_t>(writer.finished());
  const int copies = static_cast<int>(std::min<std::size_t>(workers, turns.count()));
  if (copies <= 1) {
    for (std::size_t turn = 0; turn < turns.count() && !stop_requested(); ++turn)
      turns.decode(turn, [&](SampleRow row) {
        const std::string& label = arms[row.run].cell.label;
        writer.sample(std::move(row));
        progress.at(++done, label);
      });
    return;
  }
  // Samples stay in the copy that decoded them until it writes a unit of the trace; what it says is
  // the arm of each.
  const auto work = [&](Copy& copy) {
    writer.write_as_copy();
    const auto decode = [&] {
      for (std::int64_t turn;
           (turn = copy.next()) < static_cast<std::int64_t>(turns.count()) && !stop_requested();)
        turns.decode(static_cast<std::size_t>(turn), [&](SampleRow row) {
          const std::string arm = std::to_string(row.run);
          writer.sample(std::move(row));
          copy.say(arm);
        });
    };
    try {
      decode();
    } catch (...) {
      writer.flush();
      throw;
    }
    writer.flush();
  };
  const auto heard = [&](const std::string& arm) {
    progress.at(++done, arms[std::stoul(arm)].cell.label);
  };
  try {
    in_copies(copies, work, heard);
  } catch (...) {
    writer.take_from_copies();
    throw;
  }
  writer.take_from_copies();
}

}  // namespace draftlab
