#include "analysis/grouping.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.h"

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
  for (const Frame::Arm& arm : frame.arms()) for (const auto& [key, value] : arm.config) known.insert(key);
  for (const std::string& key : by) {
    if (known.contains(key)) continue;
    const std::string near = nearest(key, {known.begin(), known.end()});
    throw UsageError("no arm of these traces has the config key '" + key + "'" + (near.empty() ? "" : "; did you mean '" + near + "'?"));
  }
  std::map<std::vector<std::string>, int> seen;
  for (std::size_t a = 0; a < frame.arms().size(); ++a) {
    const Frame::Arm& arm = frame.arms()[a];
    std::vector<std::string> values, identity;
    for (const std::string& key : by) values.push_back(frame.key(static_cast<int>(a), key));
    identity = values;
    if (by.empty()) {
      for (const auto& [key, value] : arm.config) if (key != kSeed && key != "arm" && key != "id") identity.push_back(key + "=" + value);
      identity.push_back(arm.run.checkpoint_digest + " " + arm.run.data_digest + (arm.run.config.empty() ? arm.run.arm : ""));
    }
    const auto [found, fresh] = seen.emplace(identity, static_cast<int>(groups.size()));
    if (fresh) {
      Group group{by.empty() ? without_seed(arm.run.arm) : "", values, {}};
      for (std::size_t k = 0; k < by.size(); ++k) group.name += (k ? " " : "") + by[k] + "=" + (values[k].empty() ? "-" : values[k]);
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
  if (by.empty()) for (Group& group : groups) group.keys = {group.name};
}

Pairing::Pairing(const Frame& frame, const Grouping& grouping) : frame_(frame), members_(grouping.groups.size()) {
  if (!grouping.by.empty()) {
    for (const std::string& key : frame.varying()) {
      if (key == kSeed || std::count(grouping.by.begin(), grouping.by.end(), key)) continue;
      const bool every = std::all_of(frame.arms().begin(), frame.arms().end(), [&](const Frame::Arm& arm) { return arm.find(key) != nullptr; });
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
    if (sample.counts) members_[grouping.group_of[sample.arm]].push_back(static_cast<std::int64_t>(match_.size()));
    match_.push_back(matches.emplace(std::pair(arm_text[sample.arm], sample.sample_index), static_cast<int>(matches.size())).first->second);
  }
}

std::vector<char> Pairing::wanted(int group) const {
  std::vector<char> result(match_.size());
  for (const std::int64_t i : members_[group]) result[i] = 1;
  return result;
}

Pairing::Cells Pairing::cells(int group, const Measured& measured) const {
  Cells cells;
  for (const std::int64_t i : members_[group]) {
    if (std::isnan(measured.above[i]) || std::isnan(measured.below[i])) continue;
    Mean& mean = cells[{frame_.samples()[i].prompt, match_[i]}];
    mean.above += measured.above[i];
    mean.below += measured.below[i];
    ++mean.count;
  }
  return cells;
}

namespace {

void add(PromptSums& sums, int prompt, double above, double below) {
  if (sums.prompts.empty() || sums.prompts.back() != prompt) {
    sums.prompts.push_back(prompt);
    sums.above.push_back(0);
    sums.below.push_back(0);
  }
  sums.above.back() += above;
  sums.below.back() += below;
}

}  // namespace

PromptSums Pairing::all(int group, const Measured& measured) const {
  PromptSums sums;
  for (const auto& [key, mean] : cells(group, measured)) add(sums, key.first, mean.above / mean.count, mean.below / mean.count);
  return sums;
}

std::pair<PromptSums, PromptSums> Pairing::common(int baseline, int group, const Measured& measured) const {
  const Cells theirs = cells(baseline, measured);
  PromptSums left, right;
  for (const auto& [key, mine] : cells(group, measured)) {
    const auto other = theirs.find(key);
    if (other == theirs.end()) continue;
    add(left, key.first, other->second.above / other->second.count, other->second.below / other->second.count);
    add(right, key.first, mine.above / mine.count, mine.below / mine.count);
  }
  std::pair<PromptSums, PromptSums> result;
  for (std::size_t i = 0; i < left.prompts.size(); ++i) {
    if (!(left.below[i] > 0 && right.below[i] > 0)) continue;
    add(result.first, left.prompts[i], left.above[i], left.below[i]);
    add(result.second, right.prompts[i], right.above[i], right.below[i]);
  }
  return result;
}

}  // namespace draftlab
