#include "core/config/arms.h"

#include <algorithm>

namespace draftlab {
namespace {

// Keys and sections in which no two arms differ, because they would decode the same tokens.
const std::vector<std::string> kNotVaried = {
    "run.threads", "run.workers", "run.batch", "run.limit", "run.first", "run.samples", "trace",
    "distill",     "report",      "slurm",     "sweep",     "arm",       "include"};

}  // namespace

bool may_vary(const std::string& key) {
  return std::none_of(kNotVaried.begin(), kNotVaried.end(), [&](const std::string& other) {
    return key == other || key.starts_with(other + ".");
  });
}

bool is_fixed(const Config& config, const std::string& key) {
  const Config::Entry* const entry = config.find(key);
  return entry && entry->where.starts_with("--");
}

std::vector<ArmSection> read_arms(const Config& config, Diagnostics& diagnostics) {
  std::vector<ArmSection> arms;
  for (const Config::Entry* entry : config.section("arm")) {
    const std::string rest = entry->key.substr(std::string("arm.").size());
    const std::size_t dot = rest.find('.');
    if (dot == std::string::npos) {
      diagnostics.add("{}: {} belongs to no arm; write [arm.NAME] above it", entry->where,
                      entry->key);
      continue;
    }
    const std::string name = rest.substr(0, dot), key = rest.substr(dot + 1);
    auto arm = std::find_if(arms.begin(), arms.end(),
                            [&](const ArmSection& other) { return other.name == name; });
    if (arm == arms.end()) arm = arms.insert(arm, {name, entry->where, name, {}});
    if (key == "label") {
      if (entry->value.empty())
        diagnostics.add("{}: [arm.{}] label must say something", entry->where, name);
      else
        arm->label = entry->value;
    } else if (!may_vary(key)) {
      diagnostics.add(
          "{}: [arm.{}] cannot set {}: arms that differ in it alone decode the same tokens",
          entry->where, name, key);
    } else if (!is_fixed(config, key)) {
      arm->keys.push_back({key, entry->value, entry->where});
    }
  }
  for (std::size_t i = 0; i < arms.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (arms[i].label == arms[j].label)
        diagnostics.add("{}: [arm.{}] and [arm.{}] are both called '{}'", arms[i].where,
                        arms[i].name, arms[j].name, arms[i].label);
    }
  }
  return arms;
}

}  // namespace draftlab
