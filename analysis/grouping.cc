#include "analysis/grouping.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/error.h"

namespace draftlab {
namespace {

const char* const kSeed = "run.seed";

// The label of an arm without its seed.
std::string without_seed(const std::string& label) {
  std::string text;
  for (std::size_t begin = 0; begin < label.size();) {
    const std::size_t end = std::min(label.find(' ', begin), label.size());
    const std::string word = label.substr(begin, end - begin);
    if (!word.starts_with(std::string(kSeed) + "=")) text += (text.empty() ? "" : " ") + word;
    begin = end + 1;
  }
  return text.empty() ? "arm" : text;
}

}  // namespace

Grouping::Grouping(const Frame& frame, const std::vector<std::string>& keys) : by(keys) {
  std::set<std::string> known;
  for (const Frame::Arm& arm : frame.arms())
    for (const auto& [key, value] : arm.config) known.insert(key);
  for (const std::string& key : by) {
    if (known.contains(key)) continue;
    const std::string near = nearest(key, {known.begin(), known.end()});
    throw UsageError("no arm of these traces has the config key '" + key + "'" +
                     (near.empty() ? "" : "; did you mean '" + near + "'?"));
  }
  std::map<std::vector<std::string>, int> seen;
  for (std::size_t a = 0; a < frame.arms().size(); ++a) {
    const Frame::Arm& arm = frame.arms()[a];
    std::vector<std::string> values, identity;
    for (const std::string& key : by) values.push_back(frame.key(static_cast<int>(a), key));
    identity = values;
    if (by.empty()) {
      for (const auto& [key, value] : arm.config)
        if (key != kSeed && key != "arm" && key != "id") identity.push_back(key + "=" + value);
      identity.push_back(arm.run.checkpoint_digest + " " + arm.run.data_digest +
                         (arm.run.config.empty() ? arm.run.arm : ""));
    }
    const auto [found, fresh] = seen.emplace(identity, static_cast<int>(groups.size()));
    if (fresh) {
      Group group{by.empty() ? without_seed(arm.run.arm) : "", values, {}};
      for (std::size_t k = 0; k < by.size(); ++k)
        group.name += (k ? " " : "") + by[k] + "=" + (values[k].empty() ? "-" : values[k]);
      groups.push_back(std::move(group));
    }
    groups[found->second].arms.push_back(static_cast<int>(a));
    group_of.push_back(found->second);
  }
  // Labels of several files can be equal where their arms are not: say in what they differ.
  std::map<std::string, int> named;
  for (const Group& group : groups) ++named[group.name];
  const std::vector<std::string> varying = frame.varying();
  for (Group& group : groups) {
    if (named[group.name] == 1 || !by.empty()) continue;
    for (const std::string& key : varying) {
      if (key == kSeed || group.name.find(key + "=") != std::string::npos) continue;
      group.name += " " + key + "=" + frame.key(group.arms[0], key);
    }
  }
  if (by.empty())
    for (Group& group : groups) group.keys = {group.name};
}

Pairing::Pairing(const Frame& frame, const Grouping& grouping)
    : frame_(frame), members_(grouping.groups.size()) {
  if (!grouping.by.empty()) {
    for (const std::string& key : frame.varying()) {
      if (key == kSeed || std::count(grouping.by.begin(), grouping.by.end(), key)) continue;
      const bool every =
          std::all_of(frame.arms().begin(), frame.arms().end(),
                      [&](const Frame::Arm& arm) { return arm.find(key) != nullptr; });
      if (every) matched_on_.push_back(key);
    }
  }
  std::vector<std::string> arm_text;
  for (std::size_t a = 0; a < frame.arms().size(); ++a) {
    std::string text = frame.key(static_cast<int>(a), kSeed);
    for (const std::string& key : matched_on_) text += "\n" + frame.key(static_cast<int>(a), key);
    arm_text.push_back(text);
  }
  std::map<std::pair<std::string, int>, int> matches;
  for (const Frame::Sample& sample : frame.samples()) {
    if (sample.counts)
      members_[grouping.group_of[sample.arm]].push_back(static_cast<std::int64_t>(match_.size()));
    match_.push_back(matches
                         .emplace(std::pair(arm_text[sample.arm], sample.sample_index),
                                  static_cast<int>(matches.size()))
                         .first->second);
  }
}

std::vector<char> Pairing::wanted(int group) const {
  std::vector<char> result(match_.size());
  for (const std::int64_t i : members_[group]) result[i] = 1;
  return result;
}

std::vector<std::pair<std::int64_t, std::int64_t>> Pairing::pairs(int baseline, int group) const {
  std::map<std::pair<int, int>, std::int64_t> theirs;
  for (const std::int64_t i : members_[baseline])
    theirs.try_emplace({frame_.samples()[i].prompt, match_[i]}, i);
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (const std::int64_t i : members_[group]) {
    const auto other = theirs.find({frame_.samples()[i].prompt, match_[i]});
    if (other != theirs.end()) pairs.emplace_back(other->second, i);
  }
  return pairs;
}

Pairing::Cells Pairing::cells(int group, const Measured& measured) const {
  Cells cells;
  for (const std::int64_t i : members_[group]) {
    if (!measured.has(static_cast<std::size_t>(i))) continue;
    Mean& mean = cells[{frame_.samples()[i].prompt, match_[i]}];
    mean.sums.resize(measured.columns.size());
    for (std::size_t c = 0; c < measured.columns.size(); ++c)
      mean.sums[c] += measured.columns[c][i];
    ++mean.count;
  }
  return cells;
}

namespace {

// Adds numbers divided by `count` to those of the prompt, which is the last one or comes after it.
void add(PromptSums& sums, int prompt, const std::vector<double>& numbers, double count) {
  if (sums.prompts.empty() || sums.prompts.back() != prompt) {
    sums.prompts.push_back(prompt);
    for (auto& column : sums.columns) column.push_back(0);
  }
  for (std::size_t c = 0; c < numbers.size(); ++c) sums.columns[c].back() += numbers[c] / count;
}

}  // namespace

PromptSums Pairing::all(int group, const Measured& measured) const {
  PromptSums sums{{}, std::vector<std::vector<double>>(measured.columns.size())};
  for (const auto& [key, mean] : cells(group, measured))
    add(sums, key.first, mean.sums, mean.count);
  return sums;
}

std::pair<PromptSums, PromptSums> Pairing::common(int baseline, int group, const Measured& measured,
                                                  bool positive) const {
  const Cells theirs = cells(baseline, measured);
  const PromptSums none{{}, std::vector<std::vector<double>>(measured.columns.size())};
  std::pair<PromptSums, PromptSums> both{none, none}, result{none, none};
  for (const auto& [key, mine] : cells(group, measured)) {
    const auto other = theirs.find(key);
    if (other == theirs.end()) continue;
    add(both.first, key.first, other->second.sums, other->second.count);
    add(both.second, key.first, mine.sums, mine.count);
  }
  const auto keep = [](const PromptSums& from, std::size_t prompt, PromptSums& to) {
    to.prompts.push_back(from.prompts[prompt]);
    for (std::size_t c = 0; c < from.columns.size(); ++c)
      to.columns[c].push_back(from.columns[c][prompt]);
  };
  for (std::size_t i = 0; i < both.first.prompts.size(); ++i) {
    if (positive && !(both.first.columns[1][i] > 0 && both.second.columns[1][i] > 0)) continue;
    keep(both.first, i, result.first);
    keep(both.second, i, result.second);
  }
  return result;
}

}  // namespace draftlab
