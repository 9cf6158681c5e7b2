// The sections [arm.NAME] of a config: named sets of keys, of which a sweep takes one at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/config/config.h"

namespace draftlab {

struct ArmSection {
  std::string name, where;
  // The name that tables and legends show; it is `name` where the section gives none.
  std::string label;
  std::vector<Config::Entry> keys;
};

// Reads the arms of a config in the order in which it names them. Every fault is added to
// `diagnostics`. A key that the command line sets is left out of all arms.
std::vector<ArmSection> read_arms(const Config& config, Diagnostics& diagnostics);

// Says whether arms of an experiment may differ in this key. They may not differ in what cannot
// change a decoded token or a claim about it.
bool may_vary(const std::string& key);

// Says whether the command line sets the key.
bool is_fixed(const Config& config, const std::string& key);

}  // namespace draftlab
