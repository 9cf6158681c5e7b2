// The sections [sweep] and [arm.NAME] of a config: which keys take which values together.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/config/config.h"

namespace draftlab {

using SharedEntry = std::shared_ptr<const Config::Entry>;

// One value of an axis: the keys that it sets. A plain value sets one key, a zipped one several,
// and an arm whatever its section says.
struct AxisValue {
  std::vector<SharedEntry> keys;
  std::vector<SharedEntry> arm_keys;  // These beat `keys` of every axis.
  std::string arm, label;             // The name of its arm, and what tables call it.

  bool sets(const std::string& key) const;  // Says whether its arm sets the key.
};

// Values that a sweep takes in turn. `names` are the keys that [sweep] gives it: one key, `arm`, or
// several that are zipped.
struct Axis {
  std::vector<std::string> names;
  std::vector<AxisValue> values;
  std::string where;

  std::size_t size() const { return values.size(); }
  // Whether values of the axis differ in this key. What an arm sets does not count, as its label
  // speaks for it.
  bool varies(const std::string& key) const;
};

struct Sweep {
  std::vector<Axis> axes;
  std::optional<AxisValue> baseline;
  std::vector<SharedEntry> baseline_names;  // The keys that its line names, but for its arm.
  std::vector<std::string> warnings;        // What has no effect here, one sentence each.
};

// Reads both sections and a key `arm = NAME` outside of them, which is an axis of one value. Every
// fault is added to `diagnostics`. Axes and keys of arms that the command line sets are left out,
// because it beats the file.
Sweep read_sweep(const Config& config, Diagnostics& diagnostics);

}  // namespace draftlab
