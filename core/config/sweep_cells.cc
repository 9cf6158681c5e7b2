#include "core/config/sweep_cells.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "core/config/sweep_axes.h"
#include "core/config/unshown_axis.h"

namespace draftlab {
namespace {

constexpr std::size_t kMostCells = 1000000;

// Says whether a key is one of the options that some drafters have no use for.
bool is_of_draft_length(std::string_view key) {
  return std::find(kDraftLengthKeys.begin(), kDraftLengthKeys.end(), key) != kDraftLengthKeys.end();
}

// The options of a cell that depend on the same axes: all that belongs to one kind of plugin, or
// one option of [decode] or [run].
struct Group {
  std::vector<std::pair<std::size_t, std::size_t>>
      axes;  // The axes that touch it, and the stride of each in the group's state.
  std::size_t states = 1;

  std::size_t state(const std::vector<std::size_t>& rows) const {
    std::size_t at = 0;
    for (const auto& [axis, stride] : axes) at += rows[axis] * stride;
    return at;
  }
};

// A group is a set of keys whose values depend on the same axes; one choice of values for these
// axes is a state. A piece is the part of the effective config that a group gives in one state.
struct Piece {
  // The names of plugins, such as "router = hysteresis\n", or the line of one option.
  std::string names;
  std::string sections;  // The sections, such as "\n[router.hysteresis]\non = 1\n".
  std::vector<std::pair<std::string, std::string>> values;  // The same values with dotted keys.
  bool reads_draft_length = true;  // Whether a drafter reads the draft length.
  PluginFiles files = {};          // The files that its plugins were loaded from.
};

// Collects cells, one for each effective config. To compose a cell whole takes far longer than to
// look up what its groups resolve to, so a cell is composed only when it shows a kind of plugin in
// a new state, or two kinds in a new pair of states: what parts ask of each other concerns no more
// than two of them, so nothing else can be wrong that was not found before.
class Cells {
 public:
  Cells(const Sweep& sweep, const Registries& registries, bool claims, Diagnostics& diagnostics)
      : sweep_(sweep), registries_(registries), claims_(claims), diagnostics_(diagnostics) {
    std::size_t axis_number = 0;
    for (const Axis& axis : sweep.axes) {
      std::set<std::string> touched;
      for (const AxisValue& value : axis.values)
        for (const auto* entries : {&value.keys, &value.arm_keys})
          for (const SharedEntry& entry : *entries) touched.insert(group_of(entry->key));
      for (const std::string& name : touched) {
        Group& group = groups_[name];
        group.axes.emplace_back(axis_number, group.states);
        group.states *= axis.size();
      }
      for (const std::string& name : axis.names)
        if (axis.varies(name)) varied_.push_back(name);
      ++axis_number;
    }
    for (const auto& [name, group] : groups_)
      if (name.find('.') == std::string::npos) kinds_.push_back(&group);
    pairs_.resize(kinds_.size() * kinds_.size());
  }

  // A cell outside the product.
  void add_baseline(Config config) {
    const AxisValue& value = *sweep_.baseline;
    for (const auto* entries : {&value.keys, &value.arm_keys})
      for (const SharedEntry& entry : *entries) config.set(entry);
    const std::shared_ptr<const Composition> composition = composed(config);
    std::string identified = identity(composition->effective, config);
    seen_.insert(identified);
    if (!value.arm.empty()) baseline_ = std::move(identified);
    Cell cell{{composition->id, value.label, {}, value.label}, std::move(config), composition};
    for (const SharedEntry& entry : sweep_.baseline_names) {
      (cell.label += cell.label.empty() ? "" : " ").append(entry->key + "=" + entry->value);
      cell.shown.emplace_back(entry->key, entry->value);
    }
    if (!value.arm.empty()) cell.axes.emplace_back("arm", value.arm);
    for (const auto* entries : {&sweep_.baseline_names, &value.keys})
      for (const SharedEntry& entry : *entries)
        if (const std::string* const applied = value_of(composition->options, entry->key))
          cell.axes.emplace_back(entry->key, *applied);
    cells_.push_back(std::move(cell));
  }

  // The cell of the product with these rows of the axes. Axis values that its effective config does
  // not show do not apply to it.
  void add(Config config, const std::vector<std::size_t>& rows) {
    const AxisValue* arm = nullptr;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const AxisValue& value = sweep_.axes[i].values[rows[i]];
      for (const SharedEntry& entry : value.keys) config.set(entry);
      if (!value.arm.empty()) arm = &value;
    }
    if (arm)
      for (const SharedEntry& entry : arm->arm_keys) config.set(entry);
    std::shared_ptr<const Composition> composition = composed_if_new(config, rows);
    assemble(rows);
    for (const std::string& key : varied_)
      if (value(key, rows)) shown_.insert(key);
    const std::string identified = identity(effective_, config);
    const bool is_baseline = arm && identified == baseline_;
    if (!seen_.insert(identified).second && !is_baseline) return;
    Cell cell{{arm_id(effective_), {}, {}}, std::move(config), std::move(composition)};
    for (const std::string& key : varied_) {
      const std::string* const applied = value(key, rows);
      if (applied && !(arm && arm->sets(key))) cell.axes.emplace_back(key, *applied);
    }
    if (cell.axes.empty() && !arm) {  // The cell is named by what tells it from the baseline.
      for (const SharedEntry& entry : sweep_.baseline_names)
        if (const std::string* const applied = value(entry->key, rows))
          cell.axes.emplace_back(entry->key, *applied);
    }
    if (arm) cell.label = cell.name = arm->label;
    for (const auto& [key, text] : cell.axes)
      (cell.label += cell.label.empty() ? "" : " ").append(key).append("=").append(text);
    cell.shown = cell.axes;
    if (arm) cell.axes.insert(cell.axes.begin(), {"arm", arm->arm});
    if (!is_baseline) return cells_.push_back(std::move(cell));
    cells_[0] = std::move(cell);  // It stands first, and is named like the other cells of its arm.
    baseline_.clear();
  }

  // An axis that no cell shows varies an option of a part that none of them has.
  void refuse_unshown() {
    if (!told_.empty()) return;
    for (const std::string& key : varied_) {
      const bool of_claim = key.starts_with("reference.") || key.starts_with("certify.");
      if (!of_claim && !shown_.count(key))
        diagnostics_.add(
            unshown_axis(key, sweep_, registries_, chosen(key.substr(0, key.find('.')))));
    }
  }

  std::vector<Cell> take() { return std::move(cells_); }

 private:
  // Returns the value of a dotted key; nullptr where there is no such option.
  static const std::string* value_of(const OptionTexts& options, const std::string& key) {
    const std::size_t dot = key.rfind('.');
    const auto section = options.find(dot == std::string::npos ? "" : key.substr(0, dot));
    if (section == options.end()) return nullptr;
    const auto option = section->second.find(key.substr(dot == std::string::npos ? 0 : dot + 1));
    return option == section->second.end() ? nullptr : &option->second;
  }

  static bool is_plain(const std::string& head) { return head == "decode" || head == "run"; }

  static std::string group_of(const std::string& key) {
    const std::string head = key.substr(0, key.find('.'));
    return is_plain(head) ? key : head;
  }

  // Returns the plugins of a kind that cells have.
  std::set<std::string> chosen(const std::string& kind) const {
    std::set<std::string> names;
    if (const auto states = pieces_.find(kind); states != pieces_.end()) {
      for (const auto& [state, piece] : states->second)
        for (const auto& [name, text] : piece.values)
          if (name == kind) names.insert(text);
    }
    return names;
  }

  // What makes it another cell than those before. `config` is the cell's.
  std::string identity(const std::string& effective, const Config& config) const {
    if (!claims_) return arm_id(effective);
    std::string text = effective;
    for (const char* const section : {"certify", "reference"})
      for (const Config::Entry* entry : config.section(section))
        text += entry->key + "=" + entry->value + "\n";
    return text;
  }

  // One fault is told once, however many cells have it.
  void tell(const Diagnostics& found) {
    for (const std::string& sentence : found.sentences())
      if (told_.insert(sentence).second) diagnostics_.add(sentence);
  }

  std::shared_ptr<const Composition> composed(const Config& config) {
    Diagnostics found;
    auto arm = std::make_shared<const Composition>(compose(config, registries_, found));
    tell(found);
    return arm;
  }

  // Composes a config that shows something new, and returns null for any other.
  std::shared_ptr<const Composition> composed_if_new(const Config& config,
                                                     const std::vector<std::size_t>& rows) {
    bool fresh = pieces_.empty();
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      const std::size_t state = kinds_[i]->state(rows);
      for (std::size_t j = i; j < kinds_.size(); ++j) {
        fresh |= pairs_[i * kinds_.size() + j]
                     .insert(state * kinds_[j]->states + kinds_[j]->state(rows))
                     .second;
      }
    }
    for (const auto& [name, group] : groups_) {
      const std::size_t state = group.state(rows);
      if (name.find('.') != std::string::npos && !pieces_[name].count(state))
        pieces_[name][state] = option(name, config);
    }
    if (!fresh) return nullptr;
    std::shared_ptr<const Composition> arm = composed(config);
    harvest(*arm, rows);
    return arm;
  }

  // One option of [decode] or [run]: right or wrong, whatever the others are.
  Piece option(const std::string& key, const Config& config) {
    const std::string section = key.substr(0, key.find('.')), name = key.substr(section.size() + 1);
    Config alone;
    if (const Config::Entry* const entry = config.find(key)) alone.set(*entry);
    DecodeOptions decode;
    RunOptions run;
    OptionSet options;
    if (section == "decode")
      decode.declare(options);
    else
      run.declare(options);
    Diagnostics found;
    options.read(alone, section, found);
    tell(found);
    for (const Option& declared : options.options()) {
      if (declared.name() == name)
        return {name + " = " + declared.value() + "\n", "", {{key, declared.value()}}};
    }
    return {};
  }

  // Takes the options of a composition apart into what each group contributed.
  void harvest(const Composition& arm, const std::vector<std::size_t>& rows) {
    std::map<std::string, Piece> found;
    for (const auto& [section, options] : arm.options) {
      bool headed = false;
      for (const auto& [name, value] : options) {
        const std::string key = section.empty() ? name : section + "." + name,
                          line = option_line(name, value);
        Piece& piece = found[group_of(key)];
        if (section.empty() || is_plain(section)) {
          piece.names += line;
        } else {
          if (!headed) piece.sections += "\n[" + section + "]\n";
          piece.sections += line;
          headed = true;
        }
        piece.values.emplace_back(key, value);
      }
    }
    found["drafter"].reads_draft_length = found.count(kDraftLength) > 0;
    for (const auto& [kind, files] : arm.files)
      if (kind.find('.') == std::string::npos) found[kind].files = files;
    for (auto& [word, piece] : found)
      pieces_[word].try_emplace(groups_[word].state(rows), std::move(piece));
  }

  const Piece* piece(const std::string& group, const std::vector<std::size_t>& rows) const {
    if (is_of_draft_length(group)) {
      const Piece* const drafter = piece("drafter", rows);
      if (drafter && !drafter->reads_draft_length) return nullptr;
    }
    const auto found = pieces_.find(group);
    if (found == pieces_.end()) return nullptr;
    const auto known = found->second.find(groups_.at(group).state(rows));
    return known == found->second.end() ? nullptr : &known->second;
  }

  // The effective config, as compose() would write it: names of plugins, then sections, each in the
  // order of the alphabet, then files of plugins.
  void assemble(const std::vector<std::size_t>& rows) {
    effective_.clear();
    current_.clear();
    for (const auto& [name, group] : groups_) current_.emplace_back(&name, piece(name, rows));
    for (const auto& [name, of] : current_)
      if (of && name->find('.') == std::string::npos) effective_ += of->names;
    std::string_view plain;
    for (const auto& [name, of] : current_) {
      if (!of) continue;
      const std::size_t dot = name->find('.');
      if (dot == std::string::npos) {
        effective_ += of->sections;
        continue;
      }
      const std::string_view head = std::string_view(*name).substr(0, dot);
      if (head != plain) effective_.append("\n[").append(head).append("]\n");
      plain = head;
      effective_ += of->names;
    }
    PluginFiles files;
    for (const auto& [name, of] : current_)
      if (of) files.insert(of->files.begin(), of->files.end());
    effective_ += plugins_section(files);
  }

  const std::string* value(const std::string& key, const std::vector<std::size_t>& rows) const {
    const Piece* const of = piece(group_of(key), rows);
    if (!of) return nullptr;
    for (const auto& [name, text] : of->values)
      if (name == key) return &text;
    return nullptr;
  }

  const Sweep& sweep_;
  const Registries& registries_;
  const bool claims_;  // Whether cells that differ in what is claimed of them are kept apart.
  Diagnostics& diagnostics_;
  std::vector<std::string>
      varied_;  // The keys of axes in which cells differ, in the order of the axes.
  std::set<std::string> shown_;  // Those of them that some cell's effective config has.
  std::map<std::string, Group> groups_;
  // The pieces by group and its state.
  std::map<std::string, std::unordered_map<std::size_t, Piece>> pieces_;
  std::vector<const Group*> kinds_;  // The kinds of plugins that axes touch.
  // The states that were seen of every two of them.
  std::vector<std::unordered_set<std::size_t>> pairs_;
  std::unordered_set<std::string> seen_;
  // The identity of a baseline that is an arm, until the product comes to it.
  std::string baseline_;
  std::set<std::string> told_;
  std::string effective_;  // The effective config of the cell in hand.
  std::vector<std::pair<const std::string*, const Piece*>> current_;
  std::vector<Cell> cells_;
};

std::vector<Cell> expanded(const Config& config, const Registries& registries, bool claims,
                           Diagnostics& diagnostics) {
  Diagnostics found;
  const Sweep sweep = read_sweep(config, found);
  Config base = config;
  for (const char* const section : {"sweep", "arm"})
    for (const Config::Entry* entry : config.section(section)) base.erase(entry->key);
  base.erase("arm");
  std::size_t product = 1;
  for (const Axis& axis : sweep.axes) product = std::min(product * axis.size(), kMostCells + 1);
  if (product > kMostCells) {
    found.add("{}: [sweep] has more than {} cells", sweep.axes[0].where, kMostCells);
  }
  if (!found.empty()) {
    for (const std::string& sentence : found.sentences()) diagnostics.add(sentence);
    return {};
  }
  Cells cells(sweep, registries, claims, diagnostics);
  if (sweep.baseline) cells.add_baseline(base);
  std::vector<std::size_t> rows(sweep.axes.size());
  for (std::size_t index = 0; index < product; ++index) {
    std::size_t rest = index, stride = product;
    // The first axis varies slowest.
    for (std::size_t axis = 0; axis < sweep.axes.size(); ++axis) {
      stride /= sweep.axes[axis].size();
      rows[axis] = rest / stride;
      rest %= stride;
    }
    cells.add(base, rows);
  }
  cells.refuse_unshown();
  return cells.take();
}

}  // namespace

std::vector<Cell> expand(const Config& config, const Registries& registries,
                         Diagnostics& diagnostics) {
  return expanded(config, registries, false, diagnostics);
}

std::vector<Cell> expand_claims(const Config& config, const Registries& registries,
                                Diagnostics& diagnostics) {
  return expanded(config, registries, true, diagnostics);
}

}  // namespace draftlab
