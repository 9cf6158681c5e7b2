#include "core/config/composition.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <set>

#include "core/base/documents.h"
#include "core/base/text.h"
#include "core/config/composition_checks.h"
#include "core/config/train.h"
#include "core/prob/chance.h"

namespace draftlab {
namespace {

// The roles of models that a config may name beside the target.
const std::vector<std::string> kModelRoles = {"draft", "judge"};

// The sections that belong to the loop, not to a plugin or a command.
const std::vector<std::string> kSections = {"decode", "run", "trace"};

// These options of [run] cannot change a decoded token, so they are no part of an arm's identity.
constexpr const char* kWithoutConsequence[] = {"limit",       "first",   "samples", "batch",
                                               "fixed_shape", "threads", "workers"};

// Returns "; did you mean 'self'?" or "; there are: ngram, self, stepwise".
std::string hint(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string near = nearest(word, candidates);
  return near.empty() ? "; there are: " + joined(candidates) : "; did you mean '" + near + "'?";
}

std::string to_ini(const OptionTexts& resolved) {
  std::string text;
  for (const auto& [section, options] : resolved) {
    if (!section.empty()) text += "\n[" + section + "]\n";
    for (const auto& [name, value] : options) text += option_line(name, value);
  }
  return text;
}

// Reads one config, key by key, and remembers which keys it has used.
class Composer {
 public:
  Composer(const Config& config, const Registries& registries, Diagnostics& diagnostics)
      : config_(config), registries_(registries), diagnostics_(diagnostics) {}

  Composition compose() {
    Composition arm;
    const bool training = config_.find("trainer");
    choose_models(arm, training);
    arm.frontier = choose_or_first(registries_.frontiers);
    arm.drafter = choose_or_first(registries_.drafters);
    arm.verifier = choose_or_first(registries_.verifiers);
    arm.acceptance = choose_or_first(registries_.acceptance);
    arm.router = choose_or_first(registries_.routers);
    if (value_of("estimator", "none") == "none")
      resolved_[""]["estimator"] = "none";
    else
      arm.estimator = choose(registries_.estimators, "none");
    attach_estimators(arm);
    arm.unmasker = choose_or_first(registries_.unmaskers);
    if (!training || config_.find("task"))
      arm.task = choose(registries_.tasks, "").value_or(Bound<Task>());
    if (training) arm.trainer = choose(registries_.trainers, "");
    read_section("decode", arm.decode);
    read_section("run", arm.run);
    read_section("trace", arm.trace);
    arm.recording = arm.trace;
    for (const Section& section : registries_.sections.all()) {
      OptionSet set;
      arm.sections[section.type] = section.make(set);
      read(section.name, set);
    }
    registries_.each([&](const auto& registry) { visit_unchosen(registry); });
    refuse_unknown();
    if (diagnostics_.empty())
      arm.unread =
          unread_options(arm.decode, check_parts(arm, config_, registries_, diagnostics_), config_);
    name(arm);
    arm.warnings = std::move(warnings_);
    return arm;
  }

 private:
  std::string value_of(const std::string& key, const std::string& otherwise) const {
    const Config::Entry* const entry = config_.find(key);
    return entry ? entry->value : otherwise;
  }

  // Binds the plugin that `key` names. Its options stand in [kind.plugin]; those of an instance
  // with a name of its own stand in [key].
  template <class Interface>
  std::optional<Bound<Interface>> choose(const Registry<Interface>& registry,
                                         const std::string& otherwise, const std::string& key) {
    const Config::Entry* const entry = config_.find(key);
    const std::string plugin = entry ? entry->value : otherwise;
    seen_.insert(key);
    if (plugin.empty()) {
      const std::string place = entry ? entry->where : file_of(config_);
      diagnostics_.add("{}: no {} is named; write {} = NAME, there are: {}", place, key, key,
                       joined(registry.names()));
      return std::nullopt;
    }
    const auto* const found = registry.find(plugin);
    if (!found) {
      const std::string place = entry ? entry->where : file_of(config_);
      diagnostics_.add("{}: unknown {} '{}'{}", place, registry.kind(), plugin,
                       hint(plugin, registry.names()));
      return std::nullopt;
    }
    const std::string section = key == registry.kind() ? key + "." + plugin : key;
    chosen_.insert(section);
    Bound<Interface> bound = found->bind(config_, section, diagnostics_, &registry);
    for (const auto& file : bound.files)
      files_[key.starts_with("estimator.") ? key : registry.kind()][file->name] = file;
    resolved_[""][key] = plugin;
    for (const auto& [name, value] : bound.values) resolved_[section][name] = value;
    return bound;
  }
  template <class Interface>
  std::optional<Bound<Interface>> choose(const Registry<Interface>& registry,
                                         const std::string& otherwise) {
    return choose(registry, otherwise, registry.kind());
  }

  // Where the config names none, the first of the kind is taken (plugins/builtin.h).
  template <class Interface>
  Bound<Interface> choose_or_first(const Registry<Interface>& registry) {
    const std::string first = registry.entries().empty() ? "" : registry.entries().front().name;
    return choose(registry, first).value_or(Bound<Interface>());
  }

  void choose_models(Composition& arm, bool training) {
    if (!training || config_.find("model")) {
      if (auto target = choose(registries_.models, "")) arm.models.emplace("", std::move(*target));
    }
    for (const std::string& role : kModelRoles) {
      // The value "none" is that of a sweep's arm without such a model.
      if (value_of("model." + role, "none") == "none") {
        if (config_.find("model." + role)) resolved_[""]["model." + role] = "none";
        seen_.insert("model." + role);
        continue;
      }
      if (auto model = choose(registries_.models, "", "model." + role))
        arm.models.emplace(role, std::move(*model));
    }
  }

  // Binds `estimator.NAME = plugin`, with its options in [estimator.NAME].
  void attach_estimators(Composition& arm) {
    for (const Config::Entry* const entry : config_.section("estimator")) {
      const std::string name = entry->key.substr(entry->key.find('.') + 1);
      if (name.find('.') != std::string::npos) continue;
      const bool plain =
          !name.empty() &&
          name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
      if (!plain)
        diagnostics_.add("{}: '{}' cannot name a column of the trace; use a-z, 0-9 and _",
                         entry->where, name);
      else if (auto estimator = choose(registries_.estimators, "", entry->key))
        arm.attached.emplace_back(name, std::move(*estimator));
    }
  }

  template <class Options>
  void read_section(const std::string& section, Options& options) {
    OptionSet set;
    options.declare(set);
    read(section, set);
  }

  void read(const std::string& section, OptionSet& set) {
    set.read(config_, section, diagnostics_);
    chosen_.insert(section);
    for (const Option& option : set.options()) resolved_[section][option.name()] = option.value();
  }

  // Reads the sections of plugins that are not chosen: they are validated all the same, but have no
  // effect.
  template <class Interface>
  void visit_unchosen(const Registry<Interface>& registry) {
    std::set<std::string> visited;
    for (const Config::Entry* entry : config_.section(registry.kind())) {
      const std::string rest = entry->key.substr(registry.kind().size() + 1);
      const std::size_t dot = rest.find('.');
      if (dot == std::string::npos) continue;
      const std::string name = rest.substr(0, dot), section = registry.kind() + "." + name;
      if (chosen_.count(section) || !visited.insert(section).second) continue;
      const bool role =
          registry.kind() == "model" && std::count(kModelRoles.begin(), kModelRoles.end(), name);
      const auto* const plugin = registry.find(name);
      seen_sections_.insert(section);
      if (plugin && !role) plugin->bind(config_, section, diagnostics_, &registry);
      if (!plugin && !role) {
        diagnostics_.add("{}: [{}] names an unknown {}{}", entry->where, section, registry.kind(),
                         hint(name, registry.names()));
      } else {
        const std::string why =
            role ? "no " + section + " is named" : registry.kind() + " is not '" + name + "'";
        warnings_.push_back(entry->where + ": [" + section + "] has no effect: " + why);
      }
    }
  }

  // Refuses a file of plugins that was not loaded: an axis or an arm names it, and all cells of a
  // config share its plugins.
  void refuse_unloaded() {
    for (const NamedPlugin& plugin : named_plugins(config_, diagnostics_)) {
      const bool loaded =
          std::any_of(registries_.files.begin(), registries_.files.end(), [&](const auto& file) {
            return file->name == plugin.name &&
                   (file->digest == plugin.digest || same_path(file->path, plugin.path));
          });
      if (!loaded)
        diagnostics_.add(
            "{}, and this file was not loaded: [plugins] holds for all cells of a config",
            plugin.said);
    }
  }

  // Returns the key of an option that the chosen part of a kind has, and "" where it has none: a
  // key may lack the part's name.
  std::string option_of_chosen(const std::string& kind, const std::string& option) const {
    for (const auto& [section, options] : resolved_)
      if (section.starts_with(kind + ".") && chosen_.count(section) && options.count(option))
        return section + "." + option;
    return "";
  }

  // Refuses the keys that no part has claimed.
  void refuse_unknown() {
    std::vector<std::string> kinds;
    registries_.each([&](const auto& registry) { kinds.push_back(registry.kind()); });
    std::vector<std::string> known = kinds;
    known.insert(known.end(), kSections.begin(), kSections.end());
    for (const Section& section : registries_.sections.all()) known.push_back(section.name);
    for (const std::string& role : kModelRoles) known.push_back("model." + role);
    known.insert(known.end(), {"sweep", "include", "plugins"});
    refuse_unloaded();
    for (const Config::Entry* const at : config_.entries()) {
      const Config::Entry& entry = *at;
      const std::string& key = entry.key;
      const std::size_t first = key.find('.'), last = key.rfind('.');
      const std::string head = key.substr(0, first),
                        section = key.substr(0, last == std::string::npos ? 0 : last);
      if (seen_.count(key) || key == "estimator") continue;
      if (head == "plugins" && first != std::string::npos) continue;
      if (head == "sweep") {
        if (!swept_)
          diagnostics_.add("{}: [sweep] has several arms, and one is wanted here", entry.where);
        swept_ = true;
        continue;
      }
      const auto claimed = [&](const std::set<std::string>& sections) {
        for (std::size_t dot = first; dot != std::string::npos; dot = key.find('.', dot + 1)) {
          if (sections.count(key.substr(0, dot))) return true;
        }
        return false;
      };
      if (claimed(chosen_) || claimed(seen_sections_)) continue;
      const std::string word = first == std::string::npos                     ? key
                               : std::count(known.begin(), known.end(), head) ? key
                                                                              : head;
      const std::string option = first == std::string::npos
                                     ? ""
                                     : option_of_chosen(head, key.substr(first + 1)),
                        near = option.empty() ? nearest(word, known) : option;
      diagnostics_.add(
          "{}: unknown {}{}'{}", entry.where, word == key ? "key '" : "section '", word,
          near.empty() ? "; draftlab list shows what there is" : "; did you mean '" + near + "'?");
    }
  }

  void name(Composition& arm) {
    const PluginFiles deciding = deciding_files(files_), all = all_files(files_);
    for (const Section& section : registries_.sections.all())
      if (section.recorded == Recorded::no) resolved_.erase(section.name);
    arm.files = files_;
    arm.resolved = to_ini(resolved_) + plugins_section(all);
    resolved_.erase("trace");
    for (const Section& section : registries_.sections.all()) resolved_.erase(section.name);
    for (const char* const option : kWithoutConsequence) resolved_["run"].erase(option);
    // Arms that differ in the drafts of a drafter that makes no chain of them are one arm.
    const bool drafts_no_chain =
        std::any_of(arm.unread.begin(), arm.unread.end(),
                    [](const UnreadOption& option) { return option.key == kDraftLength; });
    if (drafts_no_chain)
      for (const std::string_view key : kDraftLengthKeys)
        resolved_["decode"].erase(std::string(key.substr(key.find('.') + 1)));
    arm.recorded = to_ini(resolved_) + plugins_section(all);
    for (const auto& [name, estimator] : arm.attached)
      resolved_[""].erase("estimator." + name), resolved_.erase("estimator." + name);
    arm.options = resolved_;
    arm.effective = to_ini(resolved_) + plugins_section(deciding);
    for (const auto& [section, options] : arm.options)
      for (const auto& [name, value] : options)
        arm.settings.push_back({.key = section.empty() ? name : section + "." + name,
                                .value = value,
                                .part = section.empty()});
    for (const auto& [name, file] : deciding)
      arm.settings.push_back({.key = "plugins." + name, .value = file->pinned()});
    arm.id = arm_id(arm.effective);
    for (const UnreadOption& option : arm.unread)
      resolved_["decode"].erase(option.key.substr(option.key.find('.') + 1));
    arm.read_id = arm_id(to_ini(resolved_) + plugins_section(deciding));
  }

  const Config& config_;
  const Registries& registries_;
  Diagnostics& diagnostics_;
  std::vector<std::string> warnings_;
  OptionTexts resolved_;
  // The files that the chosen plugins were loaded from, as Composition::files.
  std::map<std::string, PluginFiles> files_;
  // The keys that name a plugin.
  std::set<std::string> seen_;
  // The sections that were read.
  std::set<std::string> chosen_;
  // The sections of plugins that are not chosen.
  std::set<std::string> seen_sections_;
  bool swept_ = false;
};

}  // namespace

std::string option_line(const std::string& name, const std::string& value) {
  return name + (value.empty() ? " =" : " = " + value) + "\n";
}

std::string id_of(const std::string& text) {
  char id[17];
  std::snprintf(id, sizeof id, "%016" PRIx64, stable_hash(text));
  return std::string(id, 12);
}

std::string arm_id(const std::string& effective) {
  const std::size_t head = effective.find(kPluginsHead);
  if (head == std::string::npos) return id_of(effective);
  std::set<std::string> digests;
  for (const std::string& line : all_lines(effective.substr(head)))
    if (line.find(" = ") != std::string::npos) digests.insert(line.substr(line.rfind(':')));
  std::string text = effective.substr(0, head);
  for (const std::string& digest : digests) text += digest + "\n";
  return id_of(text);
}

PluginFiles deciding_files(const std::map<std::string, PluginFiles>& by_kind) {
  PluginFiles found;
  for (const auto& [kind, files] : by_kind)
    if (kind.find('.') == std::string::npos) found.insert(files.begin(), files.end());
  return found;
}

PluginFiles all_files(const std::map<std::string, PluginFiles>& by_kind) {
  PluginFiles found;
  for (const auto& [kind, files] : by_kind) found.insert(files.begin(), files.end());
  return found;
}

Composition compose(const Config& config, const Registries& registries, Diagnostics& diagnostics) {
  return Composer(config, registries, diagnostics).compose();
}

Composition composition_of(const Cell& cell, const Registries& registries,
                           Diagnostics& diagnostics) {
  return cell.composition ? *cell.composition : compose(cell.config, registries, diagnostics);
}

}  // namespace draftlab
