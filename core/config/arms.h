// The sections [arm.NAME] of a config: named sets of keys, of which a sweep takes one at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/config/config.h"

namespace draftlab {

struct ArmSection {
  std::string name, where;
  std::string label;  // What tables and legends say; the name where the section does not say.
  std::vector<Config::Entry> keys;
};

// The arms of a config in the order in which it names them. Every fault is added to `faults`. A key
// that the command line sets is left out of all of them.
std::vector<ArmSection> read_arms(const Config& config, Faults& faults);

// Whether arms of an experiment may differ in this key. They may not in what cannot change a
// decoded token nor a claim about it.
bool may_vary(const std::string& key);

// Whether the command line sets the key.
bool is_fixed(const Config& config, const std::string& key);

}  // namespace draftlab
