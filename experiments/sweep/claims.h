// Who decodes which cell: processes on any number of machines agree through a shared folder,
// without a server or a database.
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

// What an attempt's file says.
struct Attempt {
  int number = 0;
  AttemptState state = AttemptState::running;
  std::string owner;               // process_identity() of who claimed it
  std::string host, started, job;  // Slurm's name of the job, where there is one
  std::string round;  // of whom: a failed cell is not tried again in the round that it failed in
  double seconds = 0;
  int exit_status = 0, signal = 0;
  std::string reason, last_line;  // why it failed, and the last line of the cell's log
  std::int64_t first = 0, prompts = 0, samples = 0;  // what was decoded when it is done
};

using Attempts = std::vector<Attempt>;  // of one cell, ascending

constexpr int kQuarantine = 3;  // failures after which a cell is left alone

class Claims {
 public:
  // A lease that was not renewed for `lease` seconds has expired.
  Claims(std::string folder, double lease);
  ~Claims();
  Claims(const Claims&) = delete;

  std::map<std::string, Attempts> all() const;
  Attempts of(const std::string& cell) const;
  // A running attempt whose process is gone or has not renewed its lease: nobody is at work.
  bool abandoned(const std::string& cell, const Attempt& attempt) const;

  // Claims attempt `number`, which is then renewed until finish(); false when another process was
  // faster.
  bool claim(const std::string& cell, int number, const std::string& round,
             const std::string& job = {});
  // Whether the attempt in hand is still the newest: a process that slept longer than its lease was
  // replaced.
  bool holds() const;
  // Writes what became of the attempt in hand.
  void finish(AttemptState state, Attempt outcome);
  // Lets go of the attempt in hand, which stays claimed for as long as a lease lasts: to be
  // recorded soon.
  Attempt release(Attempt outcome);
  // Writes what became of an attempt that is not in hand: released, or of a process that died.
  void record(const std::string& cell, Attempt attempt) const;

 private:
  std::string file(const std::string& cell, int number) const;
  double age(const std::string& path)
      const;  // seconds since it was renewed, by the file server's clock alone
  void renew();
  std::string folder_, clock_;
  double lease_;
  std::string cell_;  // in hand; "" when none
  Attempt attempt_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ending_ = false;
  std::thread renewing_;
};

// Failures since the cell was last forgiven.
int failures(const Attempts& attempts);

// The last line of a log that is not empty; "" where there is none.
std::string last_line(const std::string& log);

}  // namespace draftlab
