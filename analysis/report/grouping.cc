#include "analysis/report/grouping.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/error.h"

namespace draftlab {
namespace {

const char* const kSeed = "run.seed";

// Returns what an arm is called without its seed.
ArmName without_seed(ArmName name) {
  std::erase_if(name.values, [](const auto& value) { return value.first == kSeed; });
  if (name.label.empty() && name.values.empty()) name.label = "arm";
  return name;
}

}  // namespace

Grouping::Grouping(const Frame& frame, const std::vector<std::string>& keys) : by(keys) {
  std::set<std::string> known;
  for (const Frame::Arm& arm : frame.arms())
    for (const auto& [key, value] : arm.config) known.insert(key);
  for (const std::string& key : by) {
    if (known.contains(key)) continue;
    const std::string near = nearest(key, {known.begin(), known.end()});
    throw UsageError("no arm of these traces has the config key '{}'{}", key,
                     near.empty() ? "" : "; did you mean '" + near + "'?");
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
      Group group{"", values, {}};
      if (by.empty()) group.called = without_seed(arm_name(frame, static_cast<int>(a)));
      for (std::size_t k = 0; k < by.size(); ++k)
        group.called.values.emplace_back(by[k], values[k].empty() ? "-" : values[k]);
      group.name = group.called.text();
      groups.push_back(std::move(group));
    }
    groups[found->second].arms.push_back(static_cast<int>(a));
    group_of.push_back(found->second);
  }
  if (!by.empty()) return;
  tell_apart(frame);
  for (Group& group : groups) group.keys = {group.name};
}

void Grouping::tell_apart(const Frame& frame) {
  std::map<std::string, std::vector<Group*>> called;
  for (Group& group : groups) called[group.name].push_back(&group);
  for (const auto& [name, alike] : called) {
    for (const std::string& key : frame.varying()) {
      std::set<std::string> values;
      for (const Group* group : alike) values.insert(frame.key(group->arms[0], key));
      if (key == kSeed || values.size() == 1) continue;
      for (Group* group : alike)
        group->called.values.emplace_back(key, frame.key(group->arms[0], key));
    }
    for (Group* group : alike) group->name = group->called.text();
  }
}

Pairing::Pairing(const Frame& frame, const Grouping& grouping)
    : frame_(frame), grouping_(grouping), members_(grouping.groups.size()) {
  for (std::size_t i = 0; i < frame.samples().size(); ++i) {
    const Frame::Sample& sample = frame.samples()[i];
    if (sample.counts)
      members_[grouping.group_of[sample.arm]].push_back(static_cast<std::int64_t>(i));
  }
}

std::vector<char> Pairing::wanted(int group) const {
  std::vector<char> result(frame_.samples().size());
  for (const std::int64_t i : members_[group]) result[i] = 1;
  return result;
}

std::vector<std::string> Pairing::matched_on(int baseline, int group) const {
  return other_keys(baseline, group, Shared::some);
}

std::vector<std::string> Pairing::apart_in(int baseline, int group) const {
  return other_keys(baseline, group, Shared::none);
}

const std::vector<std::string>& Pairing::other_keys(int baseline, int group, Shared shared) const {
  const auto [known, fresh] = other_keys_.try_emplace({baseline, group, shared});
  std::vector<std::string>& keys = known->second;
  if (!fresh || grouping_.by.empty()) return keys;
  for (const std::string& key : frame_.varying()) {
    if (key == kSeed || std::count(grouping_.by.begin(), grouping_.by.end(), key)) continue;
    std::set<std::string> theirs, mine;
    bool every = true;
    for (const auto& [one, values] : {std::pair(baseline, &theirs), std::pair(group, &mine)}) {
      for (const int arm : grouping_.groups[one].arms) {
        every = every && frame_.arms()[arm].find(key) != nullptr;
        values->insert(frame_.key(arm, key));
      }
    }
    if (!every || (theirs == mine && theirs.size() == 1)) continue;
    const bool overlap = std::any_of(
        mine.begin(), mine.end(), [&](const std::string& value) { return theirs.contains(value); });
    if (overlap == (shared == Shared::some)) keys.push_back(key);
  }
  return keys;
}

const std::vector<int>& Pairing::matches(const std::vector<std::string>& keys) const {
  std::vector<int>& matches = matches_[keys];
  if (!matches.empty()) return matches;
  std::map<std::string, int> known;
  for (int arm = 0; arm < static_cast<int>(frame_.arms().size()); ++arm) {
    std::string text = frame_.key(arm, kSeed);
    for (const std::string& key : keys) text += "\n" + frame_.key(arm, key);
    matches.push_back(known.emplace(text, static_cast<int>(known.size())).first->second);
  }
  return matches;
}

Pairing::Key Pairing::key(std::int64_t i, const std::vector<int>& matches) const {
  const Frame::Sample& sample = frame_.samples()[i];
  return {sample.prompt, matches[sample.arm], sample.sample_index};
}

std::vector<std::pair<std::int64_t, std::int64_t>> Pairing::pairs(int baseline, int group) const {
  const std::vector<int>& match = matches(matched_on(baseline, group));
  std::map<Key, std::int64_t> theirs;
  for (const std::int64_t i : members_[baseline]) theirs.try_emplace(key(i, match), i);
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (const std::int64_t i : members_[group]) {
    const auto other = theirs.find(key(i, match));
    if (other != theirs.end()) pairs.emplace_back(other->second, i);
  }
  return pairs;
}

std::optional<Discordance> Pairing::discordance(int baseline, int group,
                                                const Measured& measured) const {
  if (measured.columns.size() != 2) return std::nullopt;
  const auto is_answer = [&](std::int64_t i) {
    const double right = measured.above()[i];
    return (right == 0 || right == 1) && measured.below()[i] == 1;
  };
  struct Prompt {
    double gained = 0, lost = 0, pairs = 0;
  };
  std::map<int, Prompt> prompts;
  for (const auto& [theirs, mine] : pairs(baseline, group)) {
    if (!measured.has(static_cast<std::size_t>(theirs)) ||
        !measured.has(static_cast<std::size_t>(mine)))
      continue;
    if (!is_answer(theirs) || !is_answer(mine)) return std::nullopt;
    Prompt& prompt = prompts[frame_.samples()[mine].prompt];
    prompt.gained += measured.above()[mine] > measured.above()[theirs];
    prompt.lost += measured.above()[mine] < measured.above()[theirs];
    ++prompt.pairs;
  }
  Discordance found{.prompts = static_cast<int>(prompts.size())};
  for (const auto& [index, prompt] : prompts) {
    found.gained += prompt.gained / prompt.pairs;
    found.lost += prompt.lost / prompt.pairs;
  }
  return found;
}

std::string Pairing::without_partner(int baseline, int group) const {
  const std::vector<std::string> keys = matched_on(baseline, group);
  const auto values_of = [&](int arm) {
    std::string text;
    for (const std::string& key : keys)
      text += (text.empty() ? "" : " ") + key + "=" + frame_.key(arm, key);
    return text;
  };
  std::set<std::string> theirs;
  for (const std::int64_t i : members_[baseline]) theirs.insert(values_of(frame_.samples()[i].arm));
  for (const std::int64_t i : members_[group])
    if (const std::string mine = values_of(frame_.samples()[i].arm); !theirs.contains(mine))
      return mine;
  return "";
}

Pairing::Cells Pairing::cells(int group, const Measured& measured,
                              const std::vector<std::string>& keys) const {
  const std::vector<int>& match = matches(keys);
  Cells cells;
  for (const std::int64_t i : members_[group]) {
    if (!measured.has(static_cast<std::size_t>(i))) continue;
    Mean& mean = cells[key(i, match)];
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
  for (const auto& [key, mean] : cells(group, measured, matched_on(group, group)))
    add(sums, std::get<0>(key), mean.sums, mean.count);
  return sums;
}

std::pair<PromptSums, PromptSums> Pairing::common(int baseline, int group, const Measured& measured,
                                                  bool positive) const {
  const std::vector<std::string> keys = matched_on(baseline, group);
  const Cells theirs = cells(baseline, measured, keys);
  const PromptSums none{{}, std::vector<std::vector<double>>(measured.columns.size())};
  std::pair<PromptSums, PromptSums> both{none, none}, result{none, none};
  for (const auto& [key, mine] : cells(group, measured, keys)) {
    const auto other = theirs.find(key);
    if (other == theirs.end()) continue;
    add(both.first, std::get<0>(key), other->second.sums, other->second.count);
    add(both.second, std::get<0>(key), mine.sums, mine.count);
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
