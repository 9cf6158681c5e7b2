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
#include "core/config/config.h"
#include "core/config/plugin.h"
#include "core/config/run_options.h"
#include "core/config/unread.h"
#include "core/loop/arm.h"
#include "core/trace/rows.h"
#include "core/trace/trace_options.h"

namespace draftlab {

// Options by section, as they stand in a config. Section "" holds the names of the plugins.
using OptionTexts = std::map<std::string, std::map<std::string, std::string>>;

// The line of an option in a config.
std::string option_line(const std::string& name, const std::string& value);

struct Composition : Arm {
  Bound<Task> task;
  // The trainer that a config for `draftlab train` names. Such a config need name neither model nor
  // task.
  std::optional<Bound<Trainer>> trainer;
  RunOptions run;
  TraceOptions trace;
  // The options of the sections that commands own, by their type.
  std::map<std::type_index, std::shared_ptr<const void>> sections;

  // Returns the options of a registered section. Throws a Fault where nobody registered it.
  template <class Options>
  const Options& section() const {
    const auto found = sections.find(typeid(Options));
    if (found == sections.end()) throw Fault("a section of the config is read but not registered");
    return *static_cast<const Options*>(found->second.get());
  }

  // Whether the arm decodes token after token (Drafter::is_sequential).
  bool is_sequential() const { return drafter.make()->is_sequential(models.contains("draft")); }

  // The files of plugins by the kind of the parts that come from them ("router"); those of attached
  // estimators stand under "estimator.NAME".
  std::map<std::string, PluginFiles> files;

  // Every chosen plugin and every resolved option that can change a decoded token.
  OptionTexts options;
  // A canonical text of them, with the files of plugins that can change one. Two configs with equal
  // text are one arm.
  std::string effective;
  // The id of that text, arm_id(effective).
  std::string id;
  // The same text with the attached estimators, as a trace records it of the arm. It can be
  // run again as it stands, and is then the same arm.
  std::string recorded;
  // The same text with every other option (threads, batch, limit, trace).
  std::string resolved;
  // The options of `effective` one by one, with dotted keys.
  std::vector<SettingRow> settings;

  // The options of [decode] that no part of the arm reads.
  std::vector<UnreadOption> unread;
  // The id of everything else: arms of equal ones decode the same tokens.
  std::string read_id;
  // The sections that have no effect, one sentence each.
  std::vector<std::string> warnings;
};

// The hash of a text, 12 hex digits.
std::string id_of(const std::string& text);
// The hash of an effective config, in which files of plugins count by what is in them, wherever
// they lie.
std::string arm_id(const std::string& effective);

// The files that can change a decoded token, and all files that took part.
PluginFiles deciding_files(const std::map<std::string, PluginFiles>& by_kind);
PluginFiles all_files(const std::map<std::string, PluginFiles>& by_kind);

// Resolves a config without [sweep]. Everything wrong with it is added to `diagnostics`: unknown
// sections, keys and plugins with file, line and suggestion; values out of range; a part whose
// questions the model cannot answer, in one sentence naming both sides. Sections of plugins that
// are not chosen are validated too.
Composition compose(const Config& config, const Registries& registries, Diagnostics& diagnostics);

// What tells a cell of a sweep from the others: this travels from the sweep to the trace.
struct CellName {
  // The id of its composition.
  std::string id;
  // What tables call it, such as "drafter=self decode.draft_length=5".
  std::string label;
  // The keys of axes that apply to it, and their values.
  std::vector<std::pair<std::string, std::string>> axes;
  // The label's parts: what [arm.NAME] calls the cell, and the axis values behind it.
  std::string name = {};
  std::vector<std::pair<std::string, std::string>> shown = {};
};

// One cell of a sweep: a config without [sweep].
struct Cell : CellName {
  Config config;
  // The config, composed; null where the cells before it said all that there was to know.
  std::shared_ptr<const Composition> composition;
};

// Returns the composition of a cell, and composes it where that was not done yet.
Composition composition_of(const Cell& cell, const Registries& registries,
                           Diagnostics& diagnostics);

// Expands [sweep]: a product of comma-separated axes. `zip = a, b` (and `zip.2 = c, d`) pairs axes
// of equal length; `baseline = key=value ...` names the cell that others are compared with, which
// is returned first. Cells whose effective configs are equal collapse into one. An axis whose key
// was given on the command line is dropped. A config without [sweep] is one cell with an empty
// label. What is wrong with any of them is in `diagnostics`.
std::vector<Cell> expand(const Config& config, const Registries& registries,
                         Diagnostics& diagnostics);

// Names the sections that have no effect in any cell, in one sentence each.
std::vector<std::string> without_effect(const std::vector<Cell>& cells,
                                        const Registries& registries);

}  // namespace draftlab
