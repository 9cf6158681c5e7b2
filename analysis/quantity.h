// The quantities that a trace can be asked for. Each is a few numbers a sample, and a table shows a
// statistic of their sums, mostly the ratio of two. So means, rates, perplexities, a corpus's BLEU
// and the distance of a set of images from held-out ones are treated alike, and resampling prompts
// means resampling their numbers.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/frame.h"
#include "core/metrics/decode_metrics.h"

namespace draftlab {

struct Quantity {
  enum class Compare {
    cost,        // The ratio of sums baseline / arm: how many times less.
    rate,        // The ratio arm / baseline: how many times more.
    difference,  // The mean over prompts of arm - baseline.
  };
  std::string name, title, unit, doc;
  Compare compare = Compare::difference;
  // The value is 1 where more is better, and -1 where less is.
  int better = 0;
  int digits = 2;
  // Whether the value depends on the machine and on what else it did.
  bool timing = false;
  // The key of [report] that says what counts as equal; empty where no key does.
  std::string margin = {};
  // Whether the table shows exp of the ratio; arms are compared before that.
  bool exponential = false;
  // The result is NaN where the sums say nothing.
  double (*statistic)(std::span<const double> sums) = ratio;

  // What the jackknife is for, in a statistic whose bias depends on how many samples there are:
  // nothing, its standard error alone, or the value, too, whose bias it removes.
  enum class Jackknife { none, error, value };
  Jackknife jackknife = Jackknife::none;
  // Whether it says what became of drafts, which has to be open.
  bool of_drafts = false;
  // Whether it lies between 0 and 1.
  bool share = false;

  // Returns sums[0] / sums[1], where that is positive.
  static double ratio(std::span<const double> sums);
  // Says whether a prompt alone has a value, so that arms can be compared prompt by prompt.
  bool by_prompt() const { return statistic == ratio; }
};

// The numbers of every sample of the frame, NaN where one was not measured. A ratio has two: the
// numerator and the denominator.
struct Measured {
  std::vector<std::vector<double>> columns;
  const std::vector<double>& above() const { return columns[0]; }
  const std::vector<double>& below() const { return columns[1]; }
  // Says whether the sample has every number.
  bool has(std::size_t sample) const;
  // Returns the mean of values, of which those that are NaN do not count.
  static Measured mean_of(std::vector<double> values);
};

// The kinds of questions whose counts and times are quantities of their own.
inline const std::vector<std::string> kKindNames = {"prefill", "draft", "verify", "commit", "aux"};
// Over so many splits of an arm's images a score is averaged.
inline constexpr std::size_t kSplits = 10;

class Quantities {
 public:
  explicit Quantities(const Frame& frame) : frame_(frame) {}
  // Returns all quantities, the tasks' scores last.
  const std::vector<Quantity>& all() const;
  // Throws UsageError with a suggestion when there is none of that name.
  const Quantity& find(const std::string& name) const;
  const Measured& of(const Quantity& quantity) const;
  // Returns what each sample's steps drafted and kept.
  const std::vector<AcceptanceSums>& acceptance() const;
  // Returns sums by depth over some samples of the frame. They are empty unless every file recorded
  // drafts.
  std::vector<AtDepth> by_depth(const std::vector<char>& wanted) const;
  // Returns the tasks' scores, without those from which another quantity is computed.
  std::vector<std::string> plain_scores() const;
  // Says whether some sample that counts has a number of it, and whether that is above zero
  // somewhere.
  bool measured(const Quantity& quantity) const;
  bool spent(const std::string& name) const;
  // Returns the quantities a reader wants to see first, of those that were measured.
  std::vector<std::string> usual() const;

 private:
  const std::vector<double>& column(const std::string& name) const;
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
  bool has_bleu() const;
  // Returns the numbered scores, in the order of their numbers.
  std::vector<std::string> image_parts(std::string_view prefix) const;
  Measured set_addends(std::string_view prefix,
                       std::vector<double> (*addends)(std::span<const double>)) const;
  Measured split_addends() const;
  Measured energy_distances() const;
  Measured local_ar_of_s2d2() const;
  Measured likeness(bool whole) const;
  std::vector<double> counted(const std::string& part, const std::vector<std::string>& kinds,
                              const std::string& whose) const;
  std::vector<double> layers() const;
  Measured measure(const std::string& name) const;
  const Frame& frame_;
  mutable std::vector<Quantity> all_;
  mutable std::map<std::string, std::vector<double>> columns_;
  mutable std::map<std::string, Measured> measured_;
  mutable std::vector<AcceptanceSums> acceptance_;
  mutable Trials trials_;
};

}  // namespace draftlab
