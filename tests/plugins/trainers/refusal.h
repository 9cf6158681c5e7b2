// How a trainer refuses its options.
#pragma once

#include <string>

#include "core/base/error.h"
#include "core/config/plugin.h"

namespace draftlab::testing {

// The sentence with which the trainer of that name, which `registers` adds, refuses a section of
// options before anything is loaded; "" when it does not.
inline std::string refusal(void (*registers)(Registries&), const std::string& name,
                           const std::string& options) {
  Registries registries;
  registers(registries);
  Diagnostics diagnostics;
  const std::string section = "trainer." + name;
  const Config config = Config::parse("[" + section + "]\n" + options, "test.ini", diagnostics);
  const auto bound = registries.trainers.find(name)->bind(config, section, diagnostics);
  diagnostics.raise();
  try {
    bound.make();
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

}  // namespace draftlab::testing
