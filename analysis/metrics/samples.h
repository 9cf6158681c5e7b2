// What metrics are computed from: the columns of a frame's samples, and the sums over their steps
// and drafts that several metrics need. All of it is read when it is first asked for.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/frame/frame.h"
#include "core/metrics/decode_metrics.h"

namespace draftlab {

// The kinds of questions that cost a forward; `aux` costs none.
inline const std::vector<std::string> kForwards = {"prefill", "draft", "verify", "commit"};
// The kinds of questions whose counts and times are metrics of their own.
inline const std::vector<std::string> kKindNames = {"prefill", "draft", "verify", "commit", "aux"};

class Samples {
 public:
  explicit Samples(const Frame& frame) : frame_(frame) {}
  const Frame& frame() const { return frame_; }
  std::size_t size() const { return frame_.samples().size(); }

  // Returns a column of the sample table (Frame::numbers).
  const std::vector<double>& column(const std::string& name) const;
  // Returns the sums of a part of the counts (nfe, rows, positions, ns) over kinds; `whose` is
  // "drafter_" for those of a draft model.
  std::vector<double> counted(const std::string& part, const std::vector<std::string>& kinds,
                              const std::string& whose = {}) const;
  // Returns the function evaluations of the target.
  std::vector<double> forwards() const { return counted("nfe", kForwards); }

  // Returns what each sample's steps drafted and kept.
  const std::vector<AcceptanceSums>& acceptance() const;
  // Drafts that were judged, and what became of them; for vector tokens also the draws of the
  // residual. Each array has one number a sample.
  struct Trials {
    std::vector<double> judged, accepted, proposals, capped;
    // The residual energies of judged drafts in sum, and how many drafts and steps have one.
    std::vector<double> energy, energy_drafts, energy_steps;
    // Accepted drafts, and the most that any rule could accept, where that was recorded.
    std::vector<double> limited, limit;
  };
  const Trials& trials() const;
  // Returns sums by depth over some samples of the frame. They are empty unless every file recorded
  // drafts.
  std::vector<AtDepth> by_depth(const std::vector<char>& wanted) const;

  // Returns the column of a task's score.
  const std::vector<double>& score(const std::string& name) const;
  // Returns the tasks' scores, without those from which another metric is computed.
  std::vector<std::string> plain_scores() const;
  // Returns the scores that a trace's config calls errors ([report] errors): less of them is
  // better.
  std::set<std::string> declared_errors() const;
  // Says whether the task recorded the sums of BLEU.
  bool has_bleu() const;
  // Returns the scores of that prefix and a number, in the order of their numbers.
  std::vector<std::string> numbered_scores(std::string_view prefix) const;

 private:
  const Frame& frame_;
  mutable std::map<std::string, std::vector<double>> columns_;
  mutable std::vector<AcceptanceSums> acceptance_;
  mutable Trials trials_;
};

}  // namespace draftlab
