#include "core/config/sweep_axes.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace draftlab {
namespace {

// Options that no sweep may vary, because arms that differ in nothing else are one arm.
const std::vector<std::string> kNotSwept = {
    "run.threads", "run.batch", "run.limit", "run.first", "run.samples", "trace",  "certify",
    "distill",     "report",    "slurm",     "sweep",     "reference",   "include"};

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

bool may_be_swept(const std::string& key) {
  return std::none_of(kNotSwept.begin(), kNotSwept.end(), [&](const std::string& other) {
    return key == other || key.compare(0, other.size() + 1, other + ".") == 0;
  });
}

// Joins the axes that one `zip` line names.
void zip(const Config::Entry& line, Sweep& sweep, Faults& faults) {
  Axis zipped;
  for (const std::string& key : split(line.value, ',')) {
    const auto axis = std::find_if(sweep.axes.begin(), sweep.axes.end(),
                                   [&](const Axis& a) { return a.keys[0].key == key; });
    if (axis == sweep.axes.end()) {
      faults.add(line.where + ": [sweep] zip names '" + key +
                 "', which is no axis of its own in this sweep");
      continue;
    }
    if (!zipped.keys.empty() && axis->size() != zipped.size()) {
      faults.add(line.where + ": [sweep] zip = " + line.value + " pairs " +
                 std::to_string(zipped.size()) + " values with " + std::to_string(axis->size()) +
                 " of " + key);
      continue;
    }
    zipped.keys.insert(zipped.keys.end(), axis->keys.begin(), axis->keys.end());
    zipped.values.insert(zipped.values.end(), axis->values.begin(), axis->values.end());
    sweep.axes.erase(axis);
  }
  if (!zipped.keys.empty()) sweep.axes.push_back(std::move(zipped));
}

}  // namespace

bool Sweep::varies(const std::string& key) const {
  for (const Axis& axis : axes) {
    for (std::size_t i = 0; i < axis.keys.size(); ++i) {
      if (axis.keys[i].key == key)
        return std::set<std::string>(axis.values[i].begin(), axis.values[i].end()).size() > 1;
    }
  }
  return false;
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
        faults.add(place + " = " + entry->value +
                   " must be a comma-separated list without empty values");
      } else {
        sweep.axes.push_back({{{key, "", entry->where}}, {std::move(values)}});
      }
    }
  }
  for (const Config::Entry& line : zips) zip(line, sweep, faults);
  return sweep;
}

}  // namespace draftlab
