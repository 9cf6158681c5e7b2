// Checks what the samples of a trace say: that counts add up, positions are committed once, and
// cells and pieces lead to runs that exist.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/inspect/findings.h"
#include "core/trace/trace_file.h"

namespace draftlab {

class CheckSamples {
 public:
  // `drafts` is the trace's attribute: which drafts its steps record.
  CheckSamples(const Trace& trace, std::string drafts, Findings& findings)
      : trace_(trace), drafts_(std::move(drafts)), findings_(findings) {}
  void run();

 private:
  void check_manifest();
  void check_pieces();
  void check_prompts();
  void check_plugins();
  void check_sample(const SampleRow& sample, std::int64_t row);
  void check_step(const SampleRow& sample, const StepRow& step, std::set<std::int32_t>& filled);
  // Counts of a sample, those of its steps, and how their columns begin.
  struct Counted {
    Counts SampleRow::*whole;
    Counts StepRow::*part;
    std::string prefix;
  };
  void check_counts(const SampleRow& sample, std::int64_t row, const Counted& counted);

  const Trace& trace_;
  // How many tokens of each prompt are given.
  std::map<PromptKey, std::int32_t> given_;
  const std::string drafts_;
  Findings& findings_;
  // Of each arm, whether drafts and target read the same numbers, which leaves no probability to a
  // rule that compares their draws; and whether those of the present sample do.
  std::vector<bool> shares_noise_;
  bool shared_noise_ = false;
  // The rows of the tables that the next sample begins with.
  std::int64_t step_row_ = 0, token_row_ = 0, draft_row_ = 0;
};

}  // namespace draftlab
