// Which arms stand in one row of a table, and which samples of two rows belong together.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/quantity.h"

namespace draftlab {

// The arms of a frame in groups of equal values of some keys. Without keys: arms that differ in
// their seed alone.
struct Grouping {
  struct Group {
    std::string name;
    std::vector<std::string> keys;
    std::vector<int> arms;
  };
  std::vector<std::string> by;
  std::vector<Group> groups;
  std::vector<int> group_of;  // of an arm

  // UsageError when no arm has one of the keys.
  Grouping(const Frame& frame, const std::vector<std::string>& by);
};

// A quantity's numbers of each prompt of a group, over samples that are matched with those of
// another group, or over all: sums over matched samples; repeats of one decode are averaged before.
struct PromptSums {
  std::vector<int> prompts;                  // ascending
  std::vector<std::vector<double>> columns;  // as in Measured, a number a prompt
};

// Matches samples by prompt, seed, repeat, and every key that is no key of the grouping but varies
// and that every arm has.
class Pairing {
 public:
  Pairing(const Frame& frame, const Grouping& grouping);
  PromptSums all(int group, const Measured& measured) const;
  // Prompts and samples that both have; prompts whose second number vanishes in either are left out
  // where `positive` says so.
  std::pair<PromptSums, PromptSums> common(int baseline, int group, const Measured& measured,
                                           bool positive) const;
  // Samples of the two groups that belong together: rows of the frame's samples.
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs(int baseline, int group) const;
  const std::vector<std::string>& matched_on() const {
    return matched_on_;
  }  // keys besides prompt, seed and repeat
  const std::vector<std::int64_t>& members(int group) const {
    return members_[group];
  }                                           // rows of the frame's samples
  std::vector<char> wanted(int group) const;  // the same, a mark a sample

 private:
  struct Mean {
    std::vector<double> sums;
    double count = 0;
  };
  using Cells = std::map<std::pair<int, int>, Mean>;  // prompt and match
  Cells cells(int group, const Measured& measured) const;
  const Frame& frame_;
  std::vector<std::string> matched_on_;
  std::vector<std::vector<std::int64_t>> members_;  // of a group: samples that count
  std::vector<int> match_;                          // of a sample
};

}  // namespace draftlab
