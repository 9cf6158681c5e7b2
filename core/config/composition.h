// A config without [sweep], resolved into plugins and their options. The loop is built from it, and
// a trace records it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <typeindex>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/config/arm.h"
#include "core/config/config.h"
#include "core/config/plugin.h"
#include "core/config/run_options.h"
#include "core/trace/rows.h"

namespace draftlab {

struct Composition : Arm {
  Bound<Task> task;
  // The trainer that a config for `draftlab train` names. Such a config need name neither model nor
  // task.
  std::optional<Bound<Trainer>> trainer;
  RunOptions run;
  // The options of the sections that commands own, by their type.
  std::map<std::type_index, std::shared_ptr<const void>> sections;

  // Returns the options of a registered section. Throws a Fault where nobody registered it.
  template <class Options>
  const Options& section() const {
    const auto found = sections.find(typeid(Options));
    if (found == sections.end()) throw Fault("a section of the config is read but not registered");
    return *static_cast<const Options*>(found->second.get());
  }

  // The files of plugins by the kind of the parts that come from them ("router"); those of attached
  // estimators stand under "estimator.NAME".
  std::map<std::string, PluginFiles> files;

  // A canonical text: every chosen plugin, every resolved option that can change a decoded token,
  // and the files of plugins that can. Two configs with equal text are one arm.
  std::string effective;
  // The id of that text, arm_id(effective).
  std::string id;
  // The same text with every other option (threads, batch, limit, trace), so that it can be run
  // again as it stands.
  std::string resolved;
  // The options of `effective` one by one, with dotted keys.
  std::vector<SettingRow> settings;
};

// The hash of a text, 12 hex digits.
std::string id_of(const std::string& text);
// The hash of an effective config, in which files of plugins count by what is in them, wherever
// they lie.
std::string arm_id(const std::string& effective);

// The files that can change a decoded token, and all files that took part.
PluginFiles deciding_files(const std::map<std::string, PluginFiles>& by_kind);
PluginFiles all_files(const std::map<std::string, PluginFiles>& by_kind);

// Resolves a config without [sweep]. Everything wrong with it is added to `faults`: unknown
// sections, keys and plugins with file, line and suggestion; values out of range; a part whose
// questions the model cannot answer, in one sentence naming both sides. Sections of plugins that
// are not chosen are validated too; `warnings` says that they have no effect here (without_effect()
// says so for a sweep, where they have none in any cell).
Composition compose(const Config& config, const Registries& registries, Faults& faults,
                    std::vector<std::string>* warnings = nullptr);

// One cell of a sweep: a config without [sweep], and the axis values that distinguish it
// ("drafter=self decode.draft_length=5").
struct Cell {
  Config config;
  // The id of its composition.
  std::string id;
  std::string label;
  std::vector<std::pair<std::string, std::string>> axes;
  // The label's parts: what [arm.NAME] calls the cell, and the axis values behind it.
  std::string name = {};
  std::vector<std::pair<std::string, std::string>> shown = {};
};

// Expands [sweep]: a product of comma-separated axes. `zip = a, b` (and `zip.2 = c, d`) pairs axes
// of equal length; `baseline = key=value ...` names the cell that others are compared with, which
// is returned first. Cells whose effective configs are equal collapse into one. An axis whose key
// was given on the command line is dropped. A config without [sweep] is one cell with an empty
// label. Every cell has been composed: what is wrong with any of them is in `faults`.
std::vector<Cell> expand(const Config& config, const Registries& registries, Faults& faults);

// Names the sections that have no effect in any cell, in one sentence each.
std::vector<std::string> without_effect(const std::vector<Cell>& cells,
                                        const Registries& registries);

}  // namespace draftlab
