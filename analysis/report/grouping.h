// Says which arms stand in one row of a table, and which samples of two rows belong together.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/metrics/metrics.h"
#include "analysis/report/paired_proportions.h"
#include "analysis/report/words.h"

namespace draftlab {

// The arms of a frame in groups of equal values of some keys. Without keys, a group holds arms that
// differ in their seed alone.
struct Grouping {
  struct Group {
    // The text of `called`.
    std::string name;
    std::vector<std::string> keys;
    std::vector<int> arms;
    ArmName called = {};
  };
  std::vector<std::string> by;
  std::vector<Group> groups;
  // The group of each arm.
  std::vector<int> group_of;

  // Throws UsageError when no arm has one of the keys.
  Grouping(const Frame& frame, const std::vector<std::string>& by);

 private:
  // Arms of several files can be called alike: adds to their names the keys in which they differ
  // from one another.
  void tell_apart(const Frame& frame);
};

// A quantity's numbers for each prompt of a group, over samples that are matched with those of
// another group, or over all samples. They are sums over matched samples; repeats of one decode are
// averaged before.
struct PromptSums {
  // In ascending order.
  std::vector<int> prompts;
  // The columns of Measured, with one number a prompt.
  std::vector<std::vector<double>> columns;
};

// Matches samples by prompt, seed, repeat, and other keys in which arms differ.
class Pairing {
 public:
  Pairing(const Frame& frame, const Grouping& grouping);
  PromptSums all(int group, const Measured& measured) const;
  // Returns the prompts and samples that both have. With `positive`, prompts whose second number
  // vanishes in either are left out.
  std::pair<PromptSums, PromptSums> common(int baseline, int group, const Measured& measured,
                                           bool positive) const;
  // Returns the samples of the two groups that belong together, as rows of the frame's samples.
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs(int baseline, int group) const;
  // Returns how many prompts either group alone gets right, over samples that belong together; none
  // where some sample is neither right (1) nor wrong (0).
  std::optional<Discordance> discordance(int baseline, int group, const Measured& measured) const;
  // Returns what samples of the group were decoded with and none of the baseline was, of the keys
  // on which they are matched: "decode.block_size=8"; "" where every sample can have a partner.
  std::string without_partner(int baseline, int group) const;
  // Returns the keys besides prompt, seed and repeat on which samples of the two groups are
  // matched: those that are no keys of the grouping, vary among the arms of both, and have a value
  // that both groups have. A key of which they share no value is part of what is compared.
  std::vector<std::string> matched_on(int baseline, int group) const;
  // Returns the keys in which the two groups differ throughout, besides those of the grouping.
  std::vector<std::string> apart_in(int baseline, int group) const;
  // The rows of the frame's samples.
  const std::vector<std::int64_t>& members(int group) const { return members_[group]; }
  // The same as a mark for each sample.
  std::vector<char> wanted(int group) const;

 private:
  struct Mean {
    std::vector<double> sums;
    double count = 0;
  };
  // A key holds prompt, match of the arm, and repeat.
  using Key = std::tuple<int, int, int>;
  using Cells = std::map<Key, Mean>;
  // Whether the two groups share a value of a key.
  enum class Shared { some, none };
  const std::vector<std::string>& other_keys(int baseline, int group, Shared shared) const;
  // Returns a number for each arm; arms with equal numbers agree in the seed and in the keys.
  const std::vector<int>& matches(const std::vector<std::string>& keys) const;
  Key key(std::int64_t sample, const std::vector<int>& matches) const;
  Cells cells(int group, const Measured& measured, const std::vector<std::string>& keys) const;
  const Frame& frame_;
  const Grouping& grouping_;
  // For each group: the samples that count.
  std::vector<std::vector<std::int64_t>> members_;
  // What matches() returned: a sweep may have 100,000 arms, and most groups match on one list of
  // keys.
  mutable std::map<std::vector<std::string>, std::vector<int>> matches_;
  mutable std::map<std::tuple<int, int, Shared>, std::vector<std::string>> other_keys_;
};

}  // namespace draftlab
