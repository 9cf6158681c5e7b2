// The [sweep] section of a config: which keys take which values.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/config/config.h"

namespace draftlab {

// Keys that take their values together, row by row: one key, or several that are zipped.
struct Axis {
  std::vector<Config::Entry> keys;               // key, and the place of its line in [sweep]
  std::vector<std::vector<std::string>> values;  // aligned with keys

  std::size_t size() const { return values.empty() ? 0 : values[0].size(); }
};

struct Sweep {
  std::vector<Axis> axes;
  std::vector<std::pair<std::string, std::string>> baseline;
  std::string baseline_where, baseline_text;

  bool varies(const std::string& key) const;  // whether cells differ in this key
};

// Every fault of the section is added to `faults`. Axes that the command line sets are left out: it
// beats the file.
Sweep read_sweep(const Config& config, Faults& faults);

}  // namespace draftlab
