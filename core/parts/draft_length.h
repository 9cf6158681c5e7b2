// How many of decode.draft_length drafts a step makes (decode.draft_rule), whatever the drafter. A
// rule may read distributions, also that of a draft which is not made, and tokens that stay in the
// proposal; then nothing changes in what is decoded. A token that is dropped because of its own
// probability makes the decoder lossy, which the rule `likely-dropped` shows.
#pragma once

#include <string>

#include "core/parts/decode_options.h"
#include "core/parts/proposal.h"
#include "core/parts/verdict.h"

namespace draftlab {

class DraftLength {
 public:
  // A drafter that does not read decode.draft_length (Part::reads) is left alone:
  // for it, whatever the options, the rule is fixed.
  explicit DraftLength(const DecodeOptions& options, bool applies = true);

  // Returns how many drafts the next step makes at most.
  std::int64_t most() const { return most_; }
  // Returns whether a draft is the last of its path. `read` is the distribution that confidences
  // are read from.
  bool ends_after(Token token, const Distribution& read) const;
  // Returns whether nothing more is drawn where `read` would be drawn from.
  bool ends_before(const Distribution& read) const;
  // Removes the drafts behind an end. The first of a path and those that are the target's own draws
  // stay. Throws ConfigError when the rule reads distributions and the proposal has none.
  void cut(Proposal& proposal) const;

  // Learns from a verified step of which `proposal` was judged.
  void observe(const Proposal& proposal, const Verdict& verdict);
  // Says what was learnt; it is empty for a rule that learns nothing.
  std::string state() const;

 private:
  bool reads() const {
    return rule_ == DraftRule::likely || rule_ == DraftRule::likely_dropped ||
           rule_ == DraftRule::sure;
  }
  // The number of drafts at which the expected tokens of a step are most in proportion to its cost.
  std::int64_t best_length() const;

  DraftRule rule_;
  bool adapts_;
  std::int64_t longest_, most_;
  // The threshold in force, and the mean share of drafts that were accepted of late.
  double stop_, share_ = 1;
  double draft_cost_, row_cost_;
  // The drafts that were accepted and those that were tested, of which older ones count for less.
  double accepted_ = 0, tested_ = 0;
};

}  // namespace draftlab
