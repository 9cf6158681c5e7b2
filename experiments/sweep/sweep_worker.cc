#include "experiments/sweep/sweep_worker.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <future>
#include <iostream>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <thread>

#include "core/base/cores.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "core/base/progress.h"
#include "core/config/composition.h"
#include "core/trace/provenance.h"
#include "core/trace/trace_file.h"
#include "experiments/arm/loaded_arm.h"
#include "plugins/remote/python_plugin.h"
#include "plugins/tokenizers/tokenizer.h"

namespace draftlab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kNotice =
    200;  // A job that is asked to end with fewer seconds left is at the end of its walltime.

double since(Clock::time_point time) {
  return std::chrono::duration<double>(Clock::now() - time).count();
}

std::atomic<bool> stopping = false;  // Signals set it, which lock-free atomics allow.
void stop(int) { stopping = true; }

// Sends standard error to the log of the cell in hand: what a library says last before it crashes
// is found there.
class CellLog {
 public:
  explicit CellLog(const std::string& path) : shown_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)) {
    const int log = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (log < 0) return;
    ::dup2(log, STDERR_FILENO);
    ::close(log);
  }
  ~CellLog() {
    std::cerr.flush();
    ::dup2(shown_, STDERR_FILENO);
    ::close(shown_);
  }
  CellLog(const CellLog&) = delete;

 private:
  int shown_;
};

class Worker {
 public:
  Worker(const SweepFolder& folder, const WorkerOptions& options, const Registries& registries)
      : folder_(folder),
        options_(options),
        registries_(registries),
        claims_(folder.attempts(), folder.lease()),
        began_(Clock::now()),
        watching_([this] { watch(); }) {}
  ~Worker() {
    ended_ = true;
    watching_.join();
  }

  int work();

 private:
  enum class Result { closing, failed, interrupted };
  // A decoded cell whose trace is on its way to the disk, while the next one is decoded.
  struct Closing {
    std::size_t index;
    Attempt outcome;
    std::unique_ptr<TraceWriter> writer;
    std::future<void> written;
  };
  bool try_claim(std::size_t index);
  Result decode(std::size_t index);
  void settle();  // Waits for what is on its way, and records what became of it.
  bool decode_prompts(const LoadedArm& arm, const SweepCell& cell, std::size_t index);
  void report(const char* what, std::size_t index);
  void watch();
  // Ends this process, whose sample in hand takes too long; what is finished becomes a unit.
  [[noreturn]] void leave(AttemptState state, const std::string& reason);
  bool hangs() const {
    return folder_.sample_seconds() > 0 && since(sample_began_) > folder_.sample_seconds();
  }
  double left() const { return options_.seconds_left - since(began_); }

  const SweepFolder& folder_;
  const WorkerOptions& options_;
  const Registries& registries_;
  Claims claims_;
  ModelCache cache_;
  std::set<std::size_t> over_;  // The cells that are done, or that this process leaves alone.
  std::size_t failed_ = 0;
  std::mutex writing_;  // It guards the trace of the cell in hand and that of the one before.
  std::unique_ptr<TraceWriter> writer_;
  std::optional<Closing> closing_;
  Clock::time_point began_;
  std::atomic<Clock::time_point> sample_began_ = Clock::time_point::max();  // max: none is in hand
  std::atomic<std::size_t> in_hand_ = 0;
  std::atomic<bool> ended_ = false;
  std::thread watching_;
};

void Worker::report(const char* what, std::size_t index) {
  if (options_.report < 0) return;
  const std::string line = std::string(what) + " " + std::to_string(index) + "\n";
  if (::write(options_.report, line.data(), line.size()) < 0)
    stopping = true;  // The process that started this one is gone.
}

// A sample that takes longer than the grace is dropped, and one that takes longer than samples may
// fails its cell.
void Worker::watch() {
  while (!ended_ && !stopping) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (hangs())
      leave(AttemptState::failed, "a sample took longer than " +
                                      duration(folder_.sample_seconds()) + " (--sample-seconds)");
  }
  const auto asked = Clock::now();
  // Asked because the walltime ends, a job has most of what is left of it.
  const double grace = options_.seconds_left > 0 && left() < kNotice
                           ? std::max(options_.grace, left() - options_.grace)
                           : options_.grace;
  while (!ended_ && since(asked) < grace)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  if (ended_) return;
  leave(AttemptState::interrupted,
        "interrupted; the sample in hand took longer than " + duration(grace) + " and was dropped");
}

void Worker::leave(AttemptState state, const std::string& reason) {
  const std::lock_guard lock(writing_);
  try {
    settle();
    if (writer_) writer_->flush();
    Attempt outcome;
    outcome.reason = reason;
    if (state == AttemptState::failed) {
      log(LogLevel::error, reason);
      outcome.exit_status = kTryAgain;
      outcome.last_line = last_line(folder_.log(folder_.cells()[in_hand_]));
    }
    claims_.finish(state, outcome);
    if (state == AttemptState::failed) report("failed", in_hand_);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
  }
  if (options_.at_exit) options_.at_exit();
  ::_exit(kTryAgain);
}

bool Worker::try_claim(std::size_t index) {
  const SweepCell& cell = folder_.cells()[index];
  const Attempts attempts = claims_.of(cell.id);
  const Standing where = folder_.standing(cell, attempts, claims_);
  const bool failed_now = where == Standing::failed && attempts.back().round == options_.round;
  if (where == Standing::done) over_.insert(index);
  if (where == Standing::quarantined || failed_now) over_.insert(index), ++failed_;
  if (where == Standing::done || where == Standing::quarantined || where == Standing::running ||
      failed_now)
    return false;
  // The attempt is abandoned: its process died over it.
  if (!attempts.empty() && attempts.back().state == AttemptState::running) {
    Attempt lost = attempts.back();
    // Who started both of us says what became of it. Where a whole sweep died, starter and all, it
    // was not for this cell.
    if (options_.report >= 0 && lost.round == options_.round) return false;
    lost.state =
        options_.requeued || is_gone(lost.round) ? AttemptState::interrupted : AttemptState::failed;
    lost.reason = "its process died, or its machine";
    lost.last_line = last_line(folder_.log(cell));
    claims_.record(cell.id, lost);
    if (failures(claims_.of(cell.id)) >= kQuarantine) return over_.insert(index), ++failed_, false;
  }
  return claims_.claim(cell.id, attempts.empty() ? 1 : attempts.back().number + 1, options_.round,
                       options_.job);
}

bool Worker::decode_prompts(const LoadedArm& arm, const SweepCell& cell, std::size_t index) {
  Progress progress("decoding", "samples", cell.wanted(),
                    static_cast<std::int64_t>(writer_->finished()));
  progress.show_on({&std::cerr});
  std::vector<Job> jobs;
  for (int sample = 0; sample < static_cast<int>(cell.samples); ++sample) {
    for (auto prompt = static_cast<int>(cell.first);
         prompt < static_cast<int>(cell.first + cell.prompts); ++prompt) {
      if (!writer_->finished(0, prompt, sample)) jobs.push_back({prompt, sample});
    }
  }
  double longest = 0;
  const auto may_go_on = [&] {
    if (stopping || folder_.cancelled()) return false;
    if (options_.seconds_left > 0 && left() < 1.5 * longest + options_.grace) {
      log(LogLevel::warning, "no time is left for another sample");
      stopping = true;
      return false;
    }
    if (claims_.holds()) return true;
    log(LogLevel::warning,
        "another process has taken over, because this one slept longer than its lease");
    return false;
  };
  // In a batch a sample that ends is replaced at once; else each is decoded on its own.
  const std::size_t together = arm.composition.run.batch > 1 ? jobs.size() : 1;
  bool whole = true;
  std::size_t open = jobs.size();
  for (std::size_t at = 0; at < jobs.size() && (whole = may_go_on()); at += together) {
    auto began = Clock::now();
    in_hand_ = index, sample_began_ = began;
    arm.decode(std::span(jobs).subspan(at, together), [&](SampleRow row) {
      longest = std::max(longest, since(began));
      began = Clock::now();
      const std::lock_guard lock(writing_);
      sample_began_ = began;
      row.run = 0;
      writer_->sample(std::move(row));
      if (closing_ &&
          closing_->written.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
        settle();
      progress.add();
      report("sample", index);
      return together == 1 || (whole = --open == 0 || may_go_on());
    });
    if (!whole) break;
  }
  sample_began_ = Clock::time_point::max();
  return whole;
}

namespace {

// Throws DataError where what the arm reads is no longer what it was when the sweep was frozen.
void check_unchanged(const LoadedArm& arm, const Inputs& inputs) {
  const std::string digest = arm.models.target().facts().digest, frozen = inputs.checkpoint_digest;
  const bool comparable = !frozen.empty() && frozen.find(' ') == std::string::npos;
  if (!digest.empty() && comparable && digest != frozen) {
    throw DataError(
        "the checkpoint '{}' has changed since the sweep was frozen: its digest is {} and was {}",
        inputs.checkpoint, digest, frozen);
  }
  const std::string tokenizer = inputs.tokenizer_digest;
  if (!tokenizer.empty() && tokenizer_digest(inputs.checkpoint) != tokenizer) {
    throw DataError(
        "the tokenizer of '{}' has changed since the sweep was frozen: its digest is {} and was {}",
        inputs.checkpoint, tokenizer_digest(inputs.checkpoint), tokenizer);
  }
  if (arm.task->digest() != inputs.data_digest) {
    throw DataError(
        "the data of the task has changed since the sweep was frozen: its digest is {} and was "
        "{}",
        arm.task->digest(), inputs.data_digest);
  }
}

// Where and with what a cell is decoded.
Provenance provenance_of(const LoadedArm& arm, const Config& config) {
  Provenance made = provenance(arm.composition.run.machine, arm.composition.run.seed);
  if (const std::string python = remote_provenance(); !python.empty())
    made.libraries += ", " + python;
  made.title = config.title();
  made.config = arm.composition.resolved;
  made.plugins = plugins(arm.composition);
  return made;
}

}  // namespace

Worker::Result Worker::decode(std::size_t index) {
  const SweepCell& cell = folder_.cells()[index];
  const CellLog here(folder_.log(cell));
  log(LogLevel::info,
      process_identity() + " begins with " + (cell.cell.label.empty() ? cell.id : cell.cell.label));
  const auto began = Clock::now();
  Attempt outcome;
  outcome.first = cell.first, outcome.prompts = cell.prompts, outcome.samples = cell.samples;
  const auto end = [&](AttemptState state, int status, const std::string& reason) {
    outcome.seconds = since(began), outcome.exit_status = status, outcome.reason = reason;
    log(state == AttemptState::failed ? LogLevel::error : LogLevel::warning,
        reason + " after " + duration(outcome.seconds));
    if (state == AttemptState::failed) outcome.last_line = last_line(folder_.log(cell));
    const std::lock_guard lock(writing_);
    writer_.reset();
    claims_.finish(state, outcome);
    return state == AttemptState::failed ? Result::failed : Result::interrupted;
  };
  try {
    Diagnostics diagnostics;
    Composition composition = composition_of(cell.cell, registries_, diagnostics);
    diagnostics.raise();
    int& threads = composition.run.machine.threads;
    threads = threads > 0 ? threads : options_.threads > 0 ? options_.threads : usable_threads();
    const LoadedArm arm = cache_.arm(cell.cell, std::move(composition));
    cache_.release_unused();
    check_unchanged(arm, cell.inputs);
    {
      const std::lock_guard lock(writing_);
      writer_ = std::make_unique<TraceWriter>(
          folder_.trace(cell),
          TraceHead{provenance_of(arm, folder_.config()), {arm.row()}, Portion::part},
          arm.composition.trace, true);
      // A writer that is dropped after a fault still writes what it holds, when the arm is gone.
      writer_->spell_with([tokenizer = arm.tokenizer](int, Token token) {
        return piece_of(tokenizer.get(), token);
      });
      writer_->take_prompts_from(
          [task = arm.task](int, int prompt) { return task->prompt(prompt); });
    }
    if (!decode_prompts(arm, cell, index))
      return end(AttemptState::interrupted, kTryAgain, "interrupted");
    const std::lock_guard lock(writing_);
    writer_->describe_libraries(provenance_of(arm, folder_.config()).libraries);
    std::function<void()> rest = writer_->closing();
    settle();
    outcome.state = AttemptState::done, outcome.seconds = since(began);
    log(LogLevel::info, "decoded after " + duration(outcome.seconds));
    closing_ = Closing{index, claims_.release(outcome), std::move(writer_), {}};
    closing_->written = std::async(
        std::launch::async, rest ? std::move(rest) : [] {});
  } catch (const Error& error) {
    return end(AttemptState::failed, error.status(), error.what());
  } catch (const std::bad_alloc&) {
    return end(AttemptState::failed, 70, "the memory did not suffice");
  } catch (const std::exception& error) {
    return end(AttemptState::failed, 70, error.what());
  }
  return Result::closing;
}

void Worker::settle() {
  if (!closing_) return;
  Closing last = std::move(*closing_);
  closing_.reset();
  const SweepCell& cell = folder_.cells()[last.index];
  try {
    last.written.get();
  } catch (const Error& error) {
    last.outcome.state = AttemptState::failed, last.outcome.exit_status = error.status(),
    last.outcome.reason = error.what();
  } catch (const std::exception& error) {
    last.outcome.state = AttemptState::failed, last.outcome.exit_status = 70,
    last.outcome.reason = error.what();
  }
  const bool failed = last.outcome.state == AttemptState::failed;
  if (failed) last.outcome.last_line = last_line(folder_.log(cell));
  claims_.record(cell.id, last.outcome);
  over_.insert(last.index);
  failed_ += failed;
  report(failed ? "failed" : "done", last.index);
}

int Worker::work() {
  const std::vector<SweepCell>& cells = folder_.cells();
  const std::size_t last = std::min(options_.last, cells.size());
  if (options_.first > last)
    throw UsageError("the sweep has {} cells, and --cells begins at {}", cells.size(),
                     options_.first);
  std::vector<std::size_t> order(last - options_.first);
  std::iota(order.begin(), order.end(), options_.first);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return cells[a].model < cells[b].model; });
  while (!stopping) {
    for (const std::size_t index : order) {
      if (stopping || folder_.cancelled()) break;
      if (over_.count(index) || !try_claim(index)) continue;
      report("begin", index);
      if (decode(index) != Result::failed) continue;
      over_.insert(index);
      ++failed_;
      report("failed", index);
    }
    {
      const std::lock_guard lock(writing_);
      settle();
    }
    if (over_.size() == order.size() || folder_.cancelled() || !options_.wait) break;
    // For those who hold the rest; where one starter started us all, they are about to end.
    std::this_thread::sleep_for(std::chrono::milliseconds(options_.report >= 0 ? 50 : 500));
  }
  if (stopping && over_.size() < order.size()) return kTryAgain;
  return failed_ == 0 && over_.size() == order.size() ? 0 : 1;
}

}  // namespace

int work(const SweepFolder& folder, const WorkerOptions& options, const Registries& registries) {
  if (!logging()) open_log("-");
  struct sigaction action {};
  action.sa_handler = stop;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  const int status = Worker(folder, options, registries).work();
  if (status == kTryAgain && options.at_exit) options.at_exit();
  return status;
}

}  // namespace draftlab
