// How many drafts verified steps accepted, as a histogram and what follows from it, in the words of
// NVIDIA's speculation profiles and of vLLM's metrics of a request.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/trace/rows.h"

namespace draftlab {

struct Speculation {
  // How many verified steps accepted 0, 1, 2, ... drafts, up to the deepest draft of any step. The
  // replacement or bonus token does not count.
  std::vector<std::int64_t> accepted_by_step = {0};
  // All drafts that could be judged, and the tokens that verified steps committed.
  std::int64_t drafted = 0, committed = 0;

  void add(const StepRow& step);
  std::int64_t steps() const;
  std::int64_t accepted() const;
  // The longest path of drafts in any step.
  std::size_t deepest() const { return accepted_by_step.size() - 1; }
  // For each draft of a path: the share of steps that accepted it and all before it.
  std::vector<double> marginals() const;
  // The same, of the steps that accepted all before it; 0 where there is none.
  std::vector<double> conditionals() const;
  // These are 1 + accepted / steps, and accepted / drafted, or 0 where nothing was verified.
  double mean_length() const;
  double rate() const;
};

struct WrittenProfile {
  std::string path;
  // Why the profile says nothing: no step of the run was verified. Empty where one was.
  std::string stub;
};

// Writes FOLDER/run-N/speculation_profile.json for each run of a trace (schema 1.0 of NVIDIA's
// Model Optimizer). Throws DataError when the trace recorded no drafts, and OutputError.
std::vector<WrittenProfile> export_profiles(const std::string& trace, const std::string& folder);

// Writes a JSON line for each sample: the summary that vLLM attaches to a request. Returns how
// many.
std::int64_t export_requests(const std::string& trace, const std::string& file);

}  // namespace draftlab
