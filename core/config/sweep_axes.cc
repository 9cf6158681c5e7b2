#include "core/config/sweep_axes.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "core/base/text.h"
#include "core/config/arms.h"

namespace draftlab {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    const auto first = part.find_first_not_of(" \t");
    parts.push_back(first == std::string::npos
                        ? ""
                        : part.substr(first, part.find_last_not_of(" \t") - first + 1));
  }
  if (!text.empty() && text.back() == separator) parts.emplace_back();
  return parts;
}

bool is_zip(const std::string& key) { return key == "zip" || key.starts_with("zip."); }

void append(std::vector<SharedEntry>& all, const std::vector<SharedEntry>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// Turns the lines of one config into a Sweep.
class AxesReader {
 public:
  AxesReader(const Config& config, Diagnostics& diagnostics)
      : config_(config), diagnostics_(diagnostics), arms_(read_arms(config, diagnostics)) {}

  Sweep read() {
    for (const Config::Entry* entry : config_.section("sweep")) {
      const std::string key = entry->key.substr(std::string("sweep.").size());
      if (!is_zip(key) && key != "baseline") add_axis(key, *entry);
    }
    const Config::Entry* const chosen = config_.find("arm");
    if (chosen && (is_fixed(config_, "arm") || !config_.find("sweep.arm"))) add_arm(*chosen);
    for (const Config::Entry* entry : config_.section("sweep"))
      if (is_zip(entry->key.substr(std::string("sweep.").size()))) zip(*entry);
    if (const Config::Entry* const line = config_.find("sweep.baseline")) read_baseline(*line);
    warn_of_double_keys();
    warn_of_unused_arms();
    return std::move(sweep_);
  }

 private:
  void add_axis(const std::string& key, const Config::Entry& line) {
    const std::string place = line.where + ": [sweep] " + key;
    if (key != "arm" && !may_vary(key)) {
      return diagnostics_.add(
          "{} cannot be swept: arms that differ in it alone decode the same tokens", place);
    }
    const std::vector<std::string> values = split(line.value, ',');
    if (key == "arm") used_.insert(values.begin(), values.end());
    if (is_fixed(config_, key)) return;
    if (values.empty() || std::count(values.begin(), values.end(), "")) {
      return diagnostics_.add("{} = {} must be a comma-separated list without empty values", place,
                              line.value);
    }
    Axis axis{{key}, {}, line.where};
    for (const std::string& value : values) {
      if (key == "arm")
        axis.values.push_back(arm(value, line.where + ": [sweep] arm"));
      else
        axis.values.push_back({{entry(key, value, line.where)}, {}, "", ""});
    }
    sweep_.axes.push_back(std::move(axis));
  }

  // The line `arm = NAME` outside [sweep].
  void add_arm(const Config::Entry& line) {
    const bool typed = line.where.starts_with("--");
    sweep_.axes.push_back(
        {{"arm"}, {arm(line.value, line.where + (typed ? "" : ": arm"))}, line.where});
  }

  static SharedEntry entry(const std::string& key, const std::string& value,
                           const std::string& where) {
    return std::make_shared<const Config::Entry>(Config::Entry{key, value, where});
  }

  AxisValue arm(const std::string& name, const std::string& place) {
    used_.insert(name);
    std::vector<std::string> names;
    for (const ArmSection& section : arms_) {
      names.push_back(section.name);
      if (section.name != name) continue;
      AxisValue value{{}, {}, name, section.label};
      for (const Config::Entry& key : section.keys)
        value.arm_keys.push_back(std::make_shared<const Config::Entry>(key));
      return value;
    }
    const std::string near = nearest(name, names);
    diagnostics_.add("{} = {}, but no section [arm.{}] sets anything{}", place, name, name,
                     !near.empty()    ? "; did you mean '" + near + "'?"
                     : !names.empty() ? "; there are: " + joined(names)
                     : name.find('=') != std::string::npos
                         ? "; one value of an axis is chosen by --sweep.KEY VALUE"
                         : "");
    return {{}, {}, name, name};
  }

  // Joins the axes that one `zip` line names. Those that the command line sets have been dropped.
  void zip(const Config::Entry& line) {
    Axis zipped;
    for (const std::string& key : split(line.value, ',')) {
      if (is_fixed(config_, key)) continue;
      const auto axis = std::find_if(sweep_.axes.begin(), sweep_.axes.end(),
                                     [&](const Axis& a) { return a.names[0] == key; });
      if (axis == sweep_.axes.end()) {
        diagnostics_.add("{}: [sweep] zip names '{}', which is no axis of its own in this sweep",
                         line.where, key);
        continue;
      }
      if (!zipped.names.empty() && axis->size() != zipped.size()) {
        diagnostics_.add("{}: [sweep] zip = {} pairs {} values with {} of {}", line.where,
                         line.value, zipped.size(), axis->size(), key);
        continue;
      }
      join(zipped, *axis);
      sweep_.axes.erase(axis);
    }
    if (!zipped.names.empty()) sweep_.axes.push_back(std::move(zipped));
  }

  static void join(Axis& zipped, const Axis& axis) {
    if (zipped.names.empty()) {
      zipped = axis;
      return;
    }
    zipped.names.insert(zipped.names.end(), axis.names.begin(), axis.names.end());
    for (std::size_t row = 0; row < axis.size(); ++row) {
      AxisValue& value = zipped.values[row];
      append(value.keys, axis.values[row].keys);
      append(value.arm_keys, axis.values[row].arm_keys);
      if (value.arm.empty()) value.arm = axis.values[row].arm, value.label = axis.values[row].label;
    }
  }

  // Splits "router=ucb drafter.model.shape=2 1": a word without = goes on with the value before it.
  static std::vector<std::string> values_of(const std::string& baseline) {
    std::vector<std::string> values;
    for (const std::string& word : split(baseline, ' ')) {
      if (word.empty()) continue;
      if (values.empty() || word.find('=') != std::string::npos)
        values.push_back(word);
      else
        values.back() += " " + word;
    }
    return values;
  }

  // An axis that the baseline does not name takes the config's own value, or its first where the
  // config has none.
  void read_baseline(const Config::Entry& line) {
    std::vector<SharedEntry>& named = sweep_.baseline_names;
    AxisValue value;
    for (const std::string& pair : values_of(line.value)) {
      const std::size_t equals = pair.find('=');
      if (equals == std::string::npos || equals == 0) {
        diagnostics_.add("{}: [sweep] baseline = {} must be key=value key=value ...", line.where,
                         line.value);
        continue;
      }
      const std::string key = pair.substr(0, equals), text = pair.substr(equals + 1);
      if (key == "arm") {
        value = arm(text, line.where + ": [sweep] baseline arm");
        continue;
      }
      named.push_back(entry(key, text, line.where));
    }
    for (const Axis& axis : sweep_.axes) {
      const AxisValue& first = axis.values[0];
      if (value.arm.empty() && !first.arm.empty())
        value.arm = first.arm, value.label = first.label, value.arm_keys = first.arm_keys;
    }
    std::set<std::string> set;
    for (const auto* entries : {&named, &value.arm_keys})
      for (const SharedEntry& one : *entries) set.insert(one->key);
    for (const Axis& axis : sweep_.axes) {
      for (const SharedEntry& one : axis.values[0].keys)
        if (!set.count(one->key) && !config_.find(one->key)) value.keys.push_back(one);
    }
    append(value.arm_keys, named);  // What the line says beats even its arm.
    sweep_.baseline = std::move(value);
  }

  void warn_of_double_keys() {
    for (const Axis& with_arms : sweep_.axes) {
      for (const AxisValue& value : with_arms.values) {
        for (const SharedEntry& key : value.arm_keys) {
          for (const Axis& axis : sweep_.axes) {
            if (!std::count(axis.names.begin(), axis.names.end(), key->key)) continue;
            warn(key->where + ": [arm." + value.arm + "] sets " + key->key + ", so the axis " +
                 key->key + " (" + axis.where + ") does not vary it there");
          }
        }
      }
    }
  }

  void warn(const std::string& sentence) {
    if (!std::count(sweep_.warnings.begin(), sweep_.warnings.end(), sentence))
      sweep_.warnings.push_back(sentence);
  }

  void warn_of_unused_arms() {
    for (const ArmSection& section : arms_) {
      if (!used_.count(section.name))
        warn(section.where + ": [arm." + section.name +
             "] has no effect: neither [sweep] nor arm = NAME names it");
    }
  }

  const Config& config_;
  Diagnostics& diagnostics_;
  const std::vector<ArmSection> arms_;
  std::set<std::string> used_;  // The names of arms that the sweep uses.
  Sweep sweep_;
};

}  // namespace

bool AxisValue::sets(const std::string& key) const {
  return std::any_of(arm_keys.begin(), arm_keys.end(),
                     [&](const SharedEntry& entry) { return entry->key == key; });
}

bool Axis::varies(const std::string& key) const {
  std::set<std::string> seen;
  for (const AxisValue& value : values)
    for (const SharedEntry& entry : value.keys)
      if (entry->key == key) seen.insert(entry->value);
  return seen.size() > 1;
}

Sweep read_sweep(const Config& config, Diagnostics& diagnostics) {
  return AxesReader(config, diagnostics).read();
}

}  // namespace draftlab
