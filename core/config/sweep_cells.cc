// [sweep] and [reference]: from one config to several.
#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "core/config/composition.h"
#include "core/config/sweep_axes.h"

namespace draftlab {
namespace {

constexpr std::size_t kMostCells = 1000000;
const std::string kDraftLength =
    "decode.draft_length";  // the one option that some drafters have no use for

// The options of a cell that depend on the same axes: all that belongs to one kind of plugin, or
// one option of [decode] or [run].
struct Group {
  std::vector<std::pair<std::size_t, std::size_t>>
      axes;  // those that touch it, and the stride of each in the group's state
  std::size_t states = 1;

  std::size_t state(const std::vector<std::size_t>& rows) const {
    std::size_t at = 0;
    for (const auto& [axis, stride] : axes) at += rows[axis] * stride;
    return at;
  }
};

// What a group contributes to the effective config in one of its states.
struct Piece {
  std::string names;     // "router = hysteresis\n", or the line of one option
  std::string sections;  // "\n[router.hysteresis]\non = 1\n"
  std::vector<std::pair<std::string, std::string>> values;  // the same as dotted keys
  bool reads_draft_length = true;                           // of a drafter
};

// Collects cells, one for each effective config. To compose a cell whole takes far longer than to
// look up what its groups resolve to, so a cell is composed only when it shows a kind of plugin in
// a new state, or two kinds in a new pair of states: what parts ask of each other concerns no more
// than two of them, so nothing else can be wrong that was not found before.
class Cells {
 public:
  Cells(const Sweep& sweep, const Registries& registries, Faults& faults)
      : sweep_(sweep), registries_(registries), faults_(faults) {
    std::size_t axis_number = 0;
    for (const Axis& axis : sweep.axes) {
      std::set<std::string> touched;
      for (const Config::Entry& key : axis.keys) {
        varies_.push_back(sweep.varies(key.key));
        touched.insert(group_of(key.key));
      }
      for (const std::string& name : touched) {
        Group& group = groups_[name];
        group.axes.emplace_back(axis_number, group.states);
        group.states *= axis.size();
      }
      ++axis_number;
    }
    for (const auto& [name, group] : groups_)
      if (name.find('.') == std::string::npos) kinds_.push_back(&group);
    pairs_.resize(kinds_.size() * kinds_.size());
  }

  // A cell outside the product.
  void add_baseline(Config config, const std::vector<Config::Entry>& set) {
    for (const Config::Entry& entry : set) config.set(entry);
    const Composition arm = composed(config);
    if (!seen_.insert(arm.id).second) return;
    Faults none;
    const Config effective = Config::parse(arm.effective, "", none);
    Cell cell{std::move(config), arm.id, sweep_.baseline_text, {}};
    for (const Config::Entry& entry : set) {
      if (const Config::Entry* const applied = effective.find(entry.key))
        cell.axes.emplace_back(entry.key, applied->value);
    }
    cells_.push_back(std::move(cell));
  }

  // The cell of the product with these rows of the axes. Axis values that its effective config does
  // not show do not apply to it.
  void add(Config config, const std::vector<std::size_t>& rows,
           const std::vector<std::shared_ptr<const Config::Entry>>& set) {
    for (const auto& entry : set) config.set(entry);
    compose_if_new(config, rows, set);
    assemble(rows);
    std::string id = id_of(effective_);
    if (!seen_.insert(id).second) return;
    Cell cell{std::move(config), std::move(id), {}, {}};
    for (std::size_t i = 0; i < set.size(); ++i) {
      const std::string* const applied = varies_[i] ? value(set[i]->key, rows) : nullptr;
      if (applied) cell.axes.emplace_back(set[i]->key, *applied);
    }
    if (cell.axes.empty()) {  // what tells it from the baseline
      for (const auto& [key, unused] : sweep_.baseline) {
        if (const std::string* const applied = value(key, rows))
          cell.axes.emplace_back(key, *applied);
      }
    }
    for (const auto& [key, text] : cell.axes)
      (cell.label += cell.label.empty() ? "" : " ").append(key).append("=").append(text);
    cells_.push_back(std::move(cell));
  }

  std::vector<Cell> take() { return std::move(cells_); }

 private:
  static bool is_plain(const std::string& head) { return head == "decode" || head == "run"; }

  static std::string group_of(const std::string& key) {
    const std::string head = key.substr(0, key.find('.'));
    return is_plain(head) ? key : head;
  }

  // One fault is told once, however many cells have it.
  void tell(const Faults& found) {
    for (const std::string& sentence : found.sentences())
      if (told_.insert(sentence).second) faults_.add(sentence);
  }

  Composition composed(const Config& config) {
    Faults found;
    Composition arm = compose(config, registries_, found);
    tell(found);
    if (!config.section("reference").empty()) {
      Faults of_reference;
      compose(reference_of(config), registries_, of_reference);
      tell(of_reference);
    }
    return arm;
  }

  void compose_if_new(const Config& config, const std::vector<std::size_t>& rows,
                      const std::vector<std::shared_ptr<const Config::Entry>>& set) {
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
        pieces_[name][state] = option(name, set);
    }
    if (fresh) harvest(composed(config).effective, rows);
  }

  // One option of [decode] or [run]: right or wrong, whatever the others are.
  Piece option(const std::string& key,
               const std::vector<std::shared_ptr<const Config::Entry>>& set) {
    const std::string section = key.substr(0, key.find('.')), name = key.substr(section.size() + 1);
    Config alone;
    for (const auto& entry : set)
      if (entry->key == key) alone.set(entry);
    DecodeOptions decode;
    RunOptions run;
    OptionSet options;
    if (section == "decode")
      decode.declare(options);
    else
      run.declare(options);
    Faults found;
    options.read(alone, section, found);
    tell(found);
    for (const Option& declared : options.options()) {
      if (declared.name() == name)
        return {name + " = " + declared.value() + "\n", "", {{key, declared.value()}}};
    }
    return {};
  }

  // Takes an effective config apart into what each group contributed.
  void harvest(const std::string& effective, const std::vector<std::size_t>& rows) {
    std::map<std::string, Piece> found;
    std::string section;
    bool headed = false;
    for (std::size_t begin = 0; begin < effective.size();) {
      const std::size_t end = effective.find('\n', begin);
      const std::string line = effective.substr(begin, end - begin);
      begin = end + 1;
      if (line.empty()) continue;
      if (line.front() == '[') {
        section = line.substr(1, line.size() - 2);
        headed = false;
        continue;
      }
      const std::size_t equals = line.find(" =");
      const std::string name = line.substr(0, equals),
                        key = section.empty() ? name : section + "." + name;
      const std::string word = group_of(key);
      Piece& piece = found[word];
      if (section.empty() || is_plain(section)) {
        piece.names += line + "\n";
      } else {
        if (!headed) piece.sections += "\n[" + section + "]\n";
        piece.sections += line + "\n";
        headed = true;
      }
      piece.values.emplace_back(key, equals + 3 <= line.size() ? line.substr(equals + 3) : "");
    }
    found["drafter"].reads_draft_length = found.count(kDraftLength) > 0;
    for (auto& [word, piece] : found)
      pieces_[word].try_emplace(groups_[word].state(rows), std::move(piece));
  }

  const Piece* piece(const std::string& group, const std::vector<std::size_t>& rows) const {
    if (group == kDraftLength) {
      const Piece* const drafter = piece("drafter", rows);
      if (drafter && !drafter->reads_draft_length) return nullptr;
    }
    const auto found = pieces_.find(group);
    if (found == pieces_.end()) return nullptr;
    const auto known = found->second.find(groups_.at(group).state(rows));
    return known == found->second.end() ? nullptr : &known->second;
  }

  // The effective config, as compose() would write it: names of plugins, then sections, each in the
  // order of the alphabet.
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
  Faults& faults_;
  std::vector<bool> varies_;  // of every axis key, in their order
  std::map<std::string, Group> groups_;
  std::map<std::string, std::unordered_map<std::size_t, Piece>> pieces_;  // by group and its state
  std::vector<const Group*> kinds_;                     // of plugins that axes touch
  std::vector<std::unordered_set<std::size_t>> pairs_;  // states seen, of every two of them
  std::unordered_set<std::string> seen_;
  std::set<std::string> told_;
  std::string effective_;  // of the cell in hand
  std::vector<std::pair<const std::string*, const Piece*>> current_;
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
    throw ConfigError(
        "the config names no reference; write [reference] with what it changes, such as drafter = "
        "stepwise");
  }
  for (const Config::Entry* entry : overrides) {
    reference.set(
        {entry->key.substr(std::string("reference.").size()), entry->value, entry->where});
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
    found.add(sweep.axes[0].keys[0].where + ": [sweep] has more than " +
              std::to_string(kMostCells) + " cells");
  }
  if (!found.empty()) {
    for (const std::string& sentence : found.sentences()) faults.add(sentence);
    return {};
  }

  Cells cells(sweep, registries, faults);
  if (!sweep.baseline.empty()) {
    // An axis that the baseline does not name takes the config's own value, or the axis's first
    // where the config has none.
    std::vector<Config::Entry> set;
    std::set<std::string> named;
    for (const auto& [key, value] : sweep.baseline) {
      set.push_back({key, value, sweep.baseline_where});
      named.insert(key);
    }
    for (const Axis& axis : sweep.axes) {
      for (std::size_t i = 0; i < axis.keys.size(); ++i) {
        const Config::Entry& key = axis.keys[i];
        if (!named.count(key.key) && !base.find(key.key))
          set.push_back({key.key, axis.values[i][0], key.where});
      }
    }
    cells.add_baseline(base, set);
  }
  std::vector<std::vector<std::vector<std::shared_ptr<const Config::Entry>>>>
      entries;  // of each axis, row and key: shared by cells
  for (const Axis& axis : sweep.axes) {
    auto& rows = entries.emplace_back(axis.size());
    for (std::size_t row = 0; row < axis.size(); ++row) {
      for (std::size_t i = 0; i < axis.keys.size(); ++i) {
        const Config::Entry& key = axis.keys[i];
        rows[row].push_back(std::make_shared<const Config::Entry>(
            Config::Entry{key.key, axis.values[i][row], key.where}));
      }
    }
  }
  std::vector<std::size_t> rows(sweep.axes.size());
  std::vector<std::shared_ptr<const Config::Entry>> set;
  for (std::size_t index = 0; index < product; ++index) {
    set.clear();
    std::size_t rest = index, stride = product;
    for (std::size_t axis = 0; axis < sweep.axes.size(); ++axis) {  // the first axis varies slowest
      stride /= sweep.axes[axis].size();
      rows[axis] = rest / stride;
      rest %= stride;
      set.insert(set.end(), entries[axis][rows[axis]].begin(), entries[axis][rows[axis]].end());
    }
    cells.add(base, rows, set);
  }
  return cells.take();
}

std::vector<std::string> without_effect(const std::vector<Cell>& cells,
                                        const Registries& registries) {
  std::vector<std::string> kinds = {"model.draft", "model.judge"}, common;
  registries.each([&](const auto& registry) { kinds.push_back(registry.kind()); });
  std::set<std::string> seen;  // choices of plugins: what else a config says has no part in it
  bool first = true;
  const auto keep = [&](const Config& config) {
    std::string choice;
    for (const std::string& kind : kinds) {
      const Config::Entry* const entry = config.find(kind);
      choice += (entry ? entry->value : "") + "\n";
    }
    if (!seen.insert(choice).second) return;
    Faults ignored;
    std::vector<std::string> warnings;
    compose(config, registries, ignored, &warnings);
    if (first)
      common = warnings;
    else
      std::erase_if(common, [&](const std::string& w) {
        return std::count(warnings.begin(), warnings.end(), w) == 0;
      });
    first = false;
  };
  for (const Cell& cell : cells) {
    if (!first && common.empty()) break;
    keep(cell.config);
    if (!cell.config.section("reference").empty()) keep(reference_of(cell.config));
  }
  return common;
}

}  // namespace draftlab
