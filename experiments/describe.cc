// `draftlab describe KIND.NAME` prints the options of a part, or of a section of a config.
#include <iostream>
#include <string>
#include <vector>

#include "core/config/composition.h"
#include "experiments/commands.h"
#include "experiments/describe.h"

namespace draftlab {
namespace {

void print(const OptionSet& set) {
  for (const Option& option : set.options()) {
    std::cout << "  " << option.name() << " = " << option.value() << "  (" << option.rule() << ")\n"
              << "      " << option.help() << "\n";
  }
  if (set.options().empty()) std::cout << "  no options\n";
}

template <class Interface>
void print(const Registry<Interface>& registry, const typename Registry<Interface>::Entry& entry) {
  std::cout << registry.kind() << "." << entry.name << ": " << entry.summary << "\n";
  if (!entry.source.empty()) std::cout << "source: " << entry.source << "\n";
  if (!entry.forms.empty()) {
    std::cout << "answers questions of the form:";
    for (Form form : entry.forms) std::cout << " " << name(form);
    std::cout << "\n";
  }
  std::cout << "\n[" << registry.kind() << "." << entry.name << "]\n";
  OptionSet set;
  entry.with_options(set, [&] { print(set); });
}

void print_section(const std::string& name, const OptionSet& set) {
  std::cout << "[" << name << "]\n";
  print(set);
}

// Visits all registries: metrics have no section of a config, and are described all the same.
template <class Visit>
void each_part(const Registries& registries, Visit visit) {
  registries.each(visit);
  visit(registries.metrics);
}

// Visits the sections that belong to no plugin, with their options declared.
template <class Visit>
void each_section(const Registries& registries, Visit visit) {
  const auto show = [&](const std::string& name, auto options) {
    OptionSet set;
    options.declare(set);
    visit(name, set);
  };
  show("decode", DecodeOptions());
  show("run", RunOptions());
  show("trace", TraceOptions());
  for (const Section& section : registries.sections.all()) {
    OptionSet set;
    const std::shared_ptr<void> options = section.make(set);
    visit(section.name, set);
  }
}

// The sections whose keys are those of the other sections.
struct FreeSection {
  std::string name, text;
};
const std::vector<FreeSection>& free_sections() {
  static const std::vector<FreeSection> all = {
      {"sweep",
       "  KEY = VALUE, VALUE, ...\n"
       "      An axis: a cell for each value, and for all combinations of axes.\n"
       "  zip = KEY, KEY\n"
       "      Axes of equal length that are paired; zip.2 and so on pair more.\n"
       "  arm = NAME, NAME\n"
       "      The arms of [arm.NAME] sections, in turn.\n"
       "  baseline = KEY=VALUE ...\n"
       "      The cell that the others are compared with.\n"},
      {"arm.NAME",
       "  label = TEXT\n      What tables and figures call the arm.\n  KEY = VALUE\n      "
       "Overrides that make the arm; `sweep.arm` takes arms in turn.\n"},
  };
  return all;
}

int describe_all(const CommandLine& line, const Registries& registries) {
  for (const std::string& wanted : line.paths) {
    if (&wanted != &line.paths[0]) std::cout << "\n";
    if (describe(wanted, registries)) continue;
    const std::string near = nearest_described(wanted, registries);
    throw UsageError(
        "there is nothing to describe by the name '{}'; {}", wanted,
        near.empty() ? "draftlab list shows what there is, and --plugin FILE loads parts of your "
                       "own"
                     : "did you mean '" + near + "'?");
  }
  return 0;
}

}  // namespace

bool describe(const std::string& wanted, const Registries& registries) {
  bool found = false;
  each_section(registries, [&](const std::string& name, const OptionSet& set) {
    if (wanted == name) print_section(name, set), found = true;
  });
  for (const FreeSection& section : free_sections()) {
    if (wanted == section.name || (wanted == "arm" && section.name == "arm.NAME"))
      std::cout << "[" << section.name << "]\n" << section.text, found = true;
  }
  each_part(registries, [&](const auto& registry) {
    for (const auto& entry : registry.entries()) {
      // A bare name means every plugin of that name.
      if (wanted != registry.kind() + "." + entry.name && wanted != entry.name) continue;
      if (found) std::cout << "\n";
      print(registry, entry);
      found = true;
    }
  });
  return found;
}

std::vector<std::string> described_names(const Registries& registries) {
  std::vector<std::string> names;
  each_section(registries,
               [&](const std::string& name, const OptionSet&) { names.push_back(name); });
  for (const FreeSection& section : free_sections()) names.push_back(section.name);
  each_part(registries, [&](const auto& registry) {
    for (const auto& entry : registry.entries())
      names.push_back(registry.kind() + "." + entry.name);
  });
  return names;
}

std::string nearest_described(const std::string& wanted, const Registries& registries) {
  const std::vector<std::string> known = described_names(registries);
  // Where the kind is right, only what follows it is compared: "router." is like "router.".
  const std::string kind = wanted.substr(0, wanted.find('.') + 1);
  std::vector<std::string> of_kind;
  for (const std::string& name : known)
    if (!kind.empty() && name.starts_with(kind)) of_kind.push_back(name.substr(kind.size()));
  if (!of_kind.empty()) {
    const std::string near = nearest(wanted.substr(kind.size()), of_kind);
    return near.empty() ? near : kind + near;
  }
  std::string near = nearest(wanted, known);
  for (const std::string& name : known) {
    const std::size_t dot = name.find('.');
    if (near.empty() && dot != std::string::npos &&
        !nearest(wanted, {name.substr(dot + 1)}).empty())
      near = name;
  }
  return near;
}

void each_config_key(const Registries& registries,
                     const std::function<void(const std::string&)>& visit) {
  const auto visit_all = [&](const std::string& section, const OptionSet& set) {
    for (const Option& option : set.options()) visit(section + "." + option.name());
  };
  each_section(registries, visit_all);
  registries.each([&](const auto& registry) {
    for (const auto& entry : registry.entries()) {
      OptionSet set;
      entry.with_options(set, [&] { visit_all(registry.kind() + "." + entry.name, set); });
    }
  });
}

Command describe_command() {
  return {.name = "describe",
          .arguments = "KIND.NAME...",
          .summary = "options, defaults, ranges, source",
          .most = kAnyNumber,
          .flags = without_flags(describe_all)};
}

}  // namespace draftlab
