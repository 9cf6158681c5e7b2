// A config without [sweep], resolved: which plugins, with which options. The loop is built from it,
// and a trace records it.
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

namespace draftlab {

struct Composition : Arm {
  Bound<Task> task;
  // A config for `draftlab train` names a trainer, and need name neither model nor task.
  std::optional<Bound<Trainer>> trainer;
  RunOptions run;
  // The sections that commands own, by the type of their options.
  std::map<std::type_index, std::shared_ptr<const void>> sections;

  // The options of a registered section; Fault where nobody registered it.
  template <class Options>
  const Options& section() const {
    const auto found = sections.find(typeid(Options));
    if (found == sections.end()) throw Fault("a section of the config is read but not registered");
    return *static_cast<const Options*>(found->second.get());
  }

  // Canonical text: every chosen plugin and every resolved option that can change a decoded token.
  // Two configs with equal text are one arm.
  std::string effective;
  // id_of(effective).
  std::string id;
  // The same with every other option (threads, batch, limit, trace): it can be run again as it
  // stands.
  std::string resolved;
};

// Hash of an effective config, 12 hex digits.
std::string id_of(const std::string& effective);

// Binds a config without [sweep]; its [reference] is ignored. Everything wrong with it is added to
// `faults`: unknown sections, keys and plugins with file, line and suggestion; values out of range;
// a part whose questions the model cannot answer, in one sentence naming both sides. Sections of
// plugins that are not chosen are validated too; `warnings` says that they have no effect here
// (without_effect: in no cell of a sweep).
Composition compose(const Config& config, const Registries& registries, Faults& faults,
                    std::vector<std::string>* warnings = nullptr);

// The reference of a losslessness claim: the config with its [reference] overrides applied. Throws
// ConfigError without any.
Config reference_of(const Config& config);

// One cell of a sweep: a config without [sweep], and the axis values that distinguish it
// ("drafter=self decode.draft_length=5").
struct Cell {
  Config config;
  // The id of its composition.
  std::string id;
  std::string label;
  std::vector<std::pair<std::string, std::string>> axes;
};

// Expands [sweep]: a product of comma-separated axes; `zip = a, b` (and `zip.2 = c, d`) pairs axes
// of equal length; `baseline = key=value ...` names the cell others are compared with (returned
// first). Cells whose effective configs are equal collapse into one. An axis whose key was given on
// the command line is dropped. A config without [sweep] is one cell with an empty label. Every
// cell, and its reference where it has one, has been composed: what is wrong with any is in
// `faults`.
std::vector<Cell> expand(const Config& config, const Registries& registries, Faults& faults);

// The sections that have no effect in any cell nor in its reference, one sentence each.
std::vector<std::string> without_effect(const std::vector<Cell>& cells,
                                        const Registries& registries);

}  // namespace draftlab
