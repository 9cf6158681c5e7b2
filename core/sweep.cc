// [sweep] and [reference]: from one config to several.
#include <algorithm>
#include <set>
#include <sstream>

#include "core/composition.h"

namespace draftlab {
namespace {

constexpr std::size_t kMostCells = 10000;

// Options that no sweep may vary, because arms that differ in nothing else are one arm.
const std::vector<std::string> kNotSwept = {"run.threads", "run.batch", "run.limit", "run.first", "run.samples",
                                            "trace", "certify", "report", "sweep", "reference", "include"};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    const auto first = part.find_first_not_of(" \t");
    parts.push_back(first == std::string::npos ? "" : part.substr(first, part.find_last_not_of(" \t") - first + 1));
  }
  if (!text.empty() && text.back() == separator) parts.emplace_back();
  return parts;
}

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

  // Whether cells differ in this key.
  bool varies(const std::string& key) const {
    for (const Axis& axis : axes) {
      for (std::size_t i = 0; i < axis.keys.size(); ++i) {
        if (axis.keys[i].key == key) return std::set<std::string>(axis.values[i].begin(), axis.values[i].end()).size() > 1;
      }
    }
    return false;
  }
};

bool may_be_swept(const std::string& key) {
  return std::none_of(kNotSwept.begin(), kNotSwept.end(), [&](const std::string& other) {
    return key == other || key.compare(0, other.size() + 1, other + ".") == 0;
  });
}

// Joins the axes that one `zip` line names.
void zip(const Config::Entry& line, Sweep& sweep, Faults& faults) {
  Axis zipped;
  for (const std::string& key : split(line.value, ',')) {
    const auto axis = std::find_if(sweep.axes.begin(), sweep.axes.end(), [&](const Axis& a) { return a.keys[0].key == key; });
    if (axis == sweep.axes.end()) {
      faults.add(line.where + ": [sweep] zip names '" + key + "', which is no axis of its own in this sweep");
      continue;
    }
    if (!zipped.keys.empty() && axis->size() != zipped.size()) {
      faults.add(line.where + ": [sweep] zip = " + line.value + " pairs " + std::to_string(zipped.size()) + " values with " +
                 std::to_string(axis->size()) + " of " + key);
      continue;
    }
    zipped.keys.insert(zipped.keys.end(), axis->keys.begin(), axis->keys.end());
    zipped.values.insert(zipped.values.end(), axis->values.begin(), axis->values.end());
    sweep.axes.erase(axis);
  }
  if (!zipped.keys.empty()) sweep.axes.push_back(std::move(zipped));
}

Sweep read_sweep(const Config& config, Faults& faults) {
  Sweep sweep;
  std::vector<Config::Entry> zips;
  for (const Config::Entry* entry : config.section("sweep")) {
    const std::string key = entry->key.substr(std::string("sweep.").size());
    const std::string place = entry->where + ": [sweep] " + key;
    if (key == "zip" || key.compare(0, 4, "zip.") == 0) {
      zips.push_back(*entry);
    } else if (key == "baseline") {
      sweep.baseline_where = entry->where;
      sweep.baseline_text = entry->value;
      for (const std::string& pair : split(entry->value, ' ')) {
        const std::size_t equals = pair.find('=');
        if (pair.empty()) continue;
        if (equals == std::string::npos || equals == 0) {
          faults.add(place + " = " + entry->value + " must be key=value key=value ...");
        } else {
          sweep.baseline.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
        }
      }
    } else if (!may_be_swept(key)) {
      faults.add(place + " cannot be swept: arms that differ in it alone decode the same tokens");
    } else {
      const Config::Entry* const set = config.find(key);
      if (set && set->where.compare(0, 2, "--") == 0) continue;  // the command line beats the file
      std::vector<std::string> values = split(entry->value, ',');
      if (values.empty() || std::count(values.begin(), values.end(), "")) {
        faults.add(place + " = " + entry->value + " must be a comma-separated list without empty values");
      } else {
        sweep.axes.push_back({{{key, "", entry->where}}, {std::move(values)}});
      }
    }
  }
  for (const Config::Entry& line : zips) zip(line, sweep, faults);
  return sweep;
}

// Collects cells, one for each effective config.
class Cells {
 public:
  Cells(const Registries& registries, Faults& faults) : registries_(registries), faults_(faults) {}

  // `set` are the axis values of the cell; those that the resolved config does not show do not apply to it.
  void add(Config config, const std::vector<Config::Entry>& set, const Sweep& sweep, const std::string& label) {
    for (const Config::Entry& entry : set) config.set(entry);
    const Composition arm = checked(config);
    if (!config.section("reference").empty()) checked(reference_of(config));
    if (!seen_.insert(arm.effective).second) return;
    Faults none;
    const Config effective = Config::parse(arm.effective, "", none);
    Cell cell{std::move(config), label, {}};
    for (const Config::Entry& entry : set) {
      const Config::Entry* const applied = effective.find(entry.key);
      if (applied && (sweep.varies(entry.key) || !label.empty())) cell.axes.emplace_back(entry.key, applied->value);
    }
    if (cell.axes.empty()) {  // what tells it from the baseline
      for (const auto& [key, value] : sweep.baseline) {
        if (const Config::Entry* const applied = effective.find(key)) cell.axes.emplace_back(key, applied->value);
      }
    }
    if (label.empty()) {
      for (const auto& [key, value] : cell.axes) cell.label += (cell.label.empty() ? "" : " ") + key + "=" + value;
    }
    cells_.push_back(std::move(cell));
  }

  std::vector<Cell> take() { return std::move(cells_); }

 private:
  // One fault is told once, however many cells have it.
  Composition checked(const Config& config) {
    Faults found;
    Composition arm = compose(config, registries_, found);
    for (const std::string& sentence : found.sentences()) if (told_.insert(sentence).second) faults_.add(sentence);
    return arm;
  }

  const Registries& registries_;
  Faults& faults_;
  std::set<std::string> seen_, told_;
  std::vector<Cell> cells_;
};

}  // namespace

Config reference_of(const Config& config) {
  Config reference = config;
  for (const char* const section : {"reference", "certify"}) {
    for (const Config::Entry* entry : config.section(section)) reference.erase(entry->key);
  }
  const auto overrides = config.section("reference");
  if (overrides.empty()) {
    throw ConfigError("the config names no reference; write [reference] with what it changes, such as drafter = stepwise");
  }
  for (const Config::Entry* entry : overrides) {
    reference.set({entry->key.substr(std::string("reference.").size()), entry->value, entry->where});
  }
  return reference;
}

std::vector<Cell> expand(const Config& config, const Registries& registries, Faults& faults) {
  Faults found;
  const Sweep sweep = read_sweep(config, found);
  Config base = config;
  for (const Config::Entry* entry : config.section("sweep")) base.erase(entry->key);
  std::size_t product = 1;
  for (const Axis& axis : sweep.axes) product = std::min(product * axis.size(), kMostCells + 1);
  if (product > kMostCells) {
    found.add(sweep.axes[0].keys[0].where + ": [sweep] has more than " + std::to_string(kMostCells) + " cells");
  }
  if (!found.empty()) {
    for (const std::string& sentence : found.sentences()) faults.add(sentence);
    return {};
  }

  Cells cells(registries, faults);
  if (!sweep.baseline.empty()) {
    // An axis that the baseline does not name takes the config's own value, or the axis's first where the config has none.
    std::vector<Config::Entry> set;
    std::set<std::string> named;
    for (const auto& [key, value] : sweep.baseline) {
      set.push_back({key, value, sweep.baseline_where});
      named.insert(key);
    }
    for (const Axis& axis : sweep.axes) {
      for (std::size_t i = 0; i < axis.keys.size(); ++i) {
        const Config::Entry& key = axis.keys[i];
        if (!named.count(key.key) && !base.find(key.key)) set.push_back({key.key, axis.values[i][0], key.where});
      }
    }
    cells.add(base, set, sweep, sweep.baseline_text);
  }
  for (std::size_t index = 0; index < product; ++index) {
    std::vector<Config::Entry> set;
    std::size_t rest = index, stride = product;
    for (const Axis& axis : sweep.axes) {  // the first axis varies slowest
      stride /= axis.size();
      const std::size_t row = rest / stride;
      rest %= stride;
      for (std::size_t i = 0; i < axis.keys.size(); ++i) {
        set.push_back({axis.keys[i].key, axis.values[i][row], axis.keys[i].where});
      }
    }
    cells.add(base, set, sweep, "");
  }
  return cells.take();
}

std::vector<std::string> without_effect(const std::vector<Cell>& cells, const Registries& registries) {
  std::vector<std::string> common;
  bool first = true;
  const auto keep = [&](const Config& config) {
    Faults ignored;
    std::vector<std::string> warnings;
    compose(config, registries, ignored, &warnings);
    if (first) common = warnings;
    else std::erase_if(common, [&](const std::string& w) { return std::count(warnings.begin(), warnings.end(), w) == 0; });
    first = false;
  };
  for (const Cell& cell : cells) {
    keep(cell.config);
    if (!cell.config.section("reference").empty()) keep(reference_of(cell.config));
  }
  return common;
}

}  // namespace draftlab
