#include "analysis/report/baselines.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "core/base/error.h"
#include "core/base/text.h"

namespace draftlab {
namespace {

struct Word {
  std::string key, value;
};

// Says whether a word of a baseline begins with a key that some arm has.
bool begins_value(const Frame& frame, const std::string& word) {
  const std::string key = word.substr(0, word.find('='));
  return key.size() < word.size() &&
         std::any_of(frame.arms().begin(), frame.arms().end(),
                     [&](const Frame::Arm& arm) { return arm.find(key) != nullptr; });
}

// Splits "arm=two words router=ucb": a value goes on to the next word that begins with a key.
std::vector<Word> words_of(const Frame& frame, const std::string& baseline) {
  std::vector<Word> words;
  std::istringstream in(baseline);
  for (std::string text; in >> text;) {
    const std::size_t equals = text.find('=');
    if (words.empty() && (equals == 0 || equals == std::string::npos))
      throw UsageError("--baseline {} must be key=value, or several of them", baseline);
    if (words.empty() || begins_value(frame, text))
      words.push_back({text.substr(0, equals), text.substr(equals + 1)});
    else
      words.back().value += " " + text;
  }
  return words;
}

// An arm is called by its label, and by the name of its section, which its config has.
bool says(const Frame& frame, int arm, const Word& word) {
  const std::string value = frame.key(arm, word.key);
  if (value == word.value) return true;
  if (word.key != "arm") return false;
  const int file = frame.arms()[static_cast<std::size_t>(arm)].file;
  const auto& config = frame.files()[static_cast<std::size_t>(file)].config;
  const auto label = config.find("arm." + word.value + ".label");
  return label != config.end() && label->second == value;
}

std::string list_of(const Grouping& grouping, const std::vector<int>& groups) {
  std::vector<std::string> names;
  for (const int group : groups) names.push_back("'" + grouping.groups[group].name + "'");
  return joined(names);
}

bool share(const std::set<int>& one, const std::set<int>& other) {
  return std::any_of(one.begin(), one.end(), [&](int prompt) { return other.contains(prompt); });
}

// In how many of the keys that vary, and that the baseline does not name, two groups have the same
// values.
int likeness(const Rows& rows, const std::string& baseline, int one, int other) {
  const std::vector<Word> named = words_of(rows.frame, baseline);
  int alike = 0;
  for (const std::string& key : rows.frame.varying()) {
    if (std::any_of(named.begin(), named.end(), [&](const Word& word) { return word.key == key; }))
      continue;
    const auto values = [&](int group) {
      std::set<std::string> found;
      for (const int arm : rows.grouping.groups[group].arms) found.insert(rows.frame.key(arm, key));
      return found;
    };
    alike += values(one) == values(other);
  }
  return alike;
}

// Returns the candidates that are most like the group.
std::vector<int> nearest_of(const Rows& rows, const std::string& baseline,
                            const std::vector<int>& candidates, int group) {
  std::vector<int> best;
  int most = -1;
  for (const int candidate : candidates) {
    const int alike = 2 * likeness(rows, baseline, candidate, group) +
                      share(rows.prompts[candidate], rows.prompts[group]);
    if (alike > most) most = alike, best.clear();
    if (alike == most) best.push_back(candidate);
  }
  return best;
}

// Says whether all arms decode sequentially, one draw of the target a step.
bool is_sequential(const Frame& frame, const std::vector<int>& arms) {
  return std::all_of(arms.begin(), arms.end(), [&](int arm) {
    return frame.arms()[static_cast<std::size_t>(arm)].run.sequential != 0;
  });
}

// Returns the groups that decode as the sweep's baseline does, or else sequentially, and for
// prompts that none of these decoded the first that did. `baseline` becomes the sweep's.
std::vector<int> undeclared(const Rows& rows, std::string& baseline) {
  const int count = static_cast<int>(rows.prompts.size());
  const auto groups = [&](const auto& wanted) {
    std::vector<int> found;
    for (int g = 0; g < count; ++g)
      if (!rows.prompts[g].empty() && wanted(rows.grouping.groups[g].arms)) found.push_back(g);
    return found;
  };
  const auto& config = rows.frame.files()[0].config;
  const auto of_sweep = config.find("sweep.baseline");
  std::vector<int> candidates;
  if (of_sweep != config.end() && of_sweep->second.find('=') != std::string::npos) {
    baseline = of_sweep->second;
    candidates = groups(
        [&](const std::vector<int>& arms) { return is_baseline(rows.frame, arms, baseline); });
  }
  if (candidates.empty()) {
    baseline.clear();
    candidates =
        groups([&](const std::vector<int>& arms) { return is_sequential(rows.frame, arms); });
  }
  // Where every row decodes so, the first is the baseline; a sweep's stands first in its trace.
  if (static_cast<int>(candidates.size()) ==
      count - std::count_if(rows.prompts.begin(), rows.prompts.end(),
                            [](const std::set<int>& prompts) { return prompts.empty(); }))
    candidates.clear();
  for (int g = 0; g < count; ++g)
    if (!rows.prompts[g].empty() &&
        std::none_of(candidates.begin(), candidates.end(), [&](int candidate) {
          return share(rows.prompts[candidate], rows.prompts[g]);
        }))
      candidates.push_back(g);
  return candidates;
}

}  // namespace

bool is_baseline(const Frame& frame, const std::vector<int>& arms, const std::string& baseline) {
  for (const Word& word : words_of(frame, baseline))
    if (!std::all_of(arms.begin(), arms.end(), [&](int arm) { return says(frame, arm, word); }))
      return false;
  return true;
}

std::vector<int> groups_named(const Frame& frame, const Grouping& grouping,
                              const std::vector<char>& has_samples, const std::string& baseline) {
  std::vector<int> found, all;
  for (std::size_t g = 0; g < grouping.groups.size(); ++g) {
    if (!has_samples[g]) continue;
    all.push_back(static_cast<int>(g));
    if (is_baseline(frame, grouping.groups[g].arms, baseline)) found.push_back(all.back());
  }
  if (found.empty())
    throw UsageError("no group of this table is --baseline {}; there are {}", baseline,
                     list_of(grouping, all));
  return found;
}

int only_baseline(const Frame& frame, const Grouping& grouping, const std::string& baseline) {
  const std::vector<char> every(grouping.groups.size(), 1);
  if (baseline.empty()) {
    for (std::size_t g = 0; g < grouping.groups.size(); ++g)
      if (is_sequential(frame, grouping.groups[g].arms)) return static_cast<int>(g);
    return 0;
  }
  const std::vector<int> found = groups_named(frame, grouping, every, baseline);
  if (found.size() > 1)
    throw UsageError("--baseline {} names several groups, and all are compared with one: {}",
                     baseline, list_of(grouping, found));
  return found[0];
}

std::vector<int> baselines_of(const Rows& rows, const std::string& declared) {
  const int count = static_cast<int>(rows.prompts.size());
  std::string baseline = declared;
  std::vector<char> has_samples;
  for (const auto& prompts : rows.prompts) has_samples.push_back(!prompts.empty());
  const std::vector<int> candidates =
      declared.empty() ? undeclared(rows, baseline)
                       : groups_named(rows.frame, rows.grouping, has_samples, declared);
  std::vector<int> result;
  for (int g = 0; g < count; ++g) {
    if (std::count(candidates.begin(), candidates.end(), g) || candidates.empty()) {
      result.push_back(g);
      continue;
    }
    const std::vector<int> nearest = nearest_of(rows, baseline, candidates, g);
    if (!declared.empty() && nearest.size() > 1 && has_samples[g])
      throw UsageError(
          "--baseline {} names several groups, and '{}' may be compared with each: {}; name one of "
          "them",
          baseline, rows.grouping.groups[g].name, list_of(rows.grouping, nearest));
    result.push_back(nearest[0]);
  }
  return result;
}

}  // namespace draftlab
