// Decides which process decodes which cell: processes on any number of machines agree through a
// shared folder, without a server or a database.
//
// Every attempt at a cell is a file of its own, CELL.N. It is created exclusively, which only one
// process can do: that is the claim. Its time of change, renewed by the file server while the
// process lives, is the lease. Its last contents say what became of it. Attempts are never deleted,
// so no claim can be taken twice; a cell is decoded again by claiming the next number.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/process.h"

namespace draftlab {

enum class AttemptState { running, done, failed, interrupted, forgiven };

// The contents of an attempt's file.
struct Attempt {
  int number = 0;
  AttemptState state = AttemptState::running;
  // The process_identity() of the process that claimed it.
  std::string owner;
  // Where and when it began, and Slurm's name of the job, where there is one.
  std::string host, started, job;
  // The round of that process: a failed cell is not tried again in the round in which it failed.
  std::string round;
  double seconds = 0;
  int exit_status = 0, signal = 0;
  // Why it failed, and the last line of the cell's log.
  std::string reason, last_line;
  // What was decoded when the attempt is done.
  std::int64_t first = 0, prompts = 0, samples = 0;
};

// The attempts of one cell, in ascending order.
using Attempts = std::vector<Attempt>;

// The number of failures after which a cell is not tried again.
constexpr int kQuarantine = 3;

class Claims {
 public:
  // A lease that was not renewed for `lease` seconds has expired.
  Claims(std::string folder, double lease);
  ~Claims();
  Claims(const Claims&) = delete;

  std::map<std::string, Attempts> all() const;
  Attempts of(const std::string& cell) const;
  // Says whether a running attempt was abandoned: its process has ended or has not renewed its
  // lease.
  bool abandoned(const std::string& cell, const Attempt& attempt) const;

  // Claims attempt `number`, which is then renewed until finish(). Returns false when another
  // process was faster.
  bool claim(const std::string& cell, int number, const std::string& round,
             const std::string& job = {});
  // Says whether the claimed attempt is still the newest: a process that slept longer than its
  // lease was replaced.
  bool holds() const;
  // Writes what became of the claimed attempt.
  void finish(AttemptState state, Attempt outcome);
  // Stops renewing the claimed attempt, which stays claimed for as long as a lease lasts. It is to
  // be recorded soon.
  Attempt release(Attempt outcome);
  // Writes what became of another attempt: one that was released, or one of a process that died.
  void record(const std::string& cell, Attempt attempt) const;

 private:
  std::string file(const std::string& cell, int number) const;
  // Returns the seconds since it was renewed, by the file server's clock alone.
  double age(const std::string& path) const;
  void renew();
  std::string folder_, clock_;
  double lease_;
  // The cell of the claimed attempt; "" when there is none.
  std::string cell_;
  Attempt attempt_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ending_ = false;
  std::thread renewing_;
};

// Counts the failures since the cell was last forgiven.
int failures(const Attempts& attempts);

// Returns the last line of a log that is not empty, and "" where there is none.
std::string last_line(const std::string& log);

}  // namespace draftlab
