// `draftlab check CONFIG` says what a run would decode, and what it would lack.
#include <algorithm>
#include <iostream>
#include <map>

#include "core/base/table.h"
#include "core/base/text.h"
#include "core/config/arms.h"
#include "core/config/composition.h"
#include "core/config/sweep_axes.h"
#include "experiments/check/check.h"
#include "experiments/check/rehearsal.h"

namespace draftlab {
namespace {

// The last word of each key, or the whole key where two end alike.
std::vector<std::string> short_names(const std::vector<std::string>& keys) {
  const auto last_word = [](const std::string& key) { return key.substr(key.rfind('.') + 1); };
  std::vector<std::string> names;
  for (const std::string& key : keys) {
    const auto alike = [&](const std::string& other) { return last_word(other) == last_word(key); };
    names.push_back(std::count_if(keys.begin(), keys.end(), alike) == 1 ? last_word(key) : key);
  }
  return names;
}

// Prints what each arm sets, a row an arm. Keys of several arms have a column of their own, and the
// others stand together in the last one.
void print_arms(const Config& config) {
  Diagnostics none;
  const std::vector<ArmSection> arms = read_arms(config, none);
  if (arms.empty()) return;
  std::map<std::string, int> uses;
  std::vector<std::string> keys;
  for (const ArmSection& arm : arms)
    for (const Config::Entry& entry : arm.keys)
      if (++uses[entry.key] == 1) keys.push_back(entry.key);
  const std::vector<std::string> names = short_names(keys);
  TextTable table{{"arm", "label"}, {}};
  for (std::size_t k = 0; k < keys.size(); ++k)
    if (uses[keys[k]] > 1) table.header.push_back(names[k]);
  const bool rare =
      std::any_of(keys.begin(), keys.end(), [&](const std::string& key) { return uses[key] == 1; });
  if (rare) table.header.push_back("besides");
  for (const ArmSection& arm : arms) {
    std::vector<std::string> row = {arm.name, arm.label};
    std::string besides;
    for (std::size_t k = 0; k < keys.size(); ++k) {
      const auto entry = std::find_if(arm.keys.begin(), arm.keys.end(),
                                      [&](const Config::Entry& one) { return one.key == keys[k]; });
      const bool set = entry != arm.keys.end();
      if (uses[keys[k]] > 1)
        row.push_back(set ? entry->value : "-");
      else if (set)
        besides += (besides.empty() ? "" : " ") + names[k] + "=" + entry->value;
    }
    if (rare) row.push_back(besides);
    table.rows.push_back(std::move(row));
  }
  std::cout << table.print() << "\n";
}

int check(const CommandLine& line, const Registries& registries) {
  Diagnostics all;
  for (const std::string& path : line.paths) {
    Diagnostics diagnostics;
    const Config config = Config::read(path, line.overrides, diagnostics);
    // What follows from a line that cannot be read is not said.
    std::vector<Cell> cells;
    if (diagnostics.empty()) cells = expand(config, registries, diagnostics);
    for (const std::string& sentence : diagnostics.sentences()) all.add(sentence);
    if (!diagnostics.empty()) continue;
    std::cout << path << ": " << cells.size() << (cells.size() == 1 ? " cell\n" : " cells\n");
    const std::string question = first_sentence(config.title());
    if (!question.empty()) std::cout << "  " << question << "\n";
    print_arms(config);
    const bool baseline = config.find("sweep.baseline");
    for (const Cell& cell : cells) {
      std::cout << "  " << cell.id << (cell.label.empty() ? "" : "  " + cell.label)
                << (baseline && &cell == &cells[0] ? "  (baseline)" : "") << "\n";
    }
    for (const std::string& sentence : read_sweep(config, diagnostics).warnings)
      std::cout << "  warning: " << sentence << "\n";
    Rehearsal rehearsal(path, registries);
    UnreadInArms unread;
    for (const Cell& cell : cells) {
      const Composition arm = composition_of(cell, registries, diagnostics);
      rehearsal.cell(arm, diagnostics);
      unread.add(cell.label, arm);
    }
    for (const std::string& sentence : diagnostics.sentences()) all.add(sentence);
    for (const std::string& sentence : without_effect(cells, registries))
      std::cout << "  warning: " << sentence << "\n";
    for (const std::string& sentence : unread.sentences())
      std::cout << "  warning: " << sentence << "\n";
  }
  all.raise();
  return 0;
}

}  // namespace

Command check_command() {
  return {.name = "check",
          .arguments = "CONFIG...",
          .summary = "validate a config and show its cells, without running it",
          .most = kAnyNumber,
          .takes_config = true,
          .flags = without_flags(check)};
}

}  // namespace draftlab
