// `draftlab list [KIND]` prints the parts that there are, and `draftlab list configs [WORD]` the
// configs that come with the program.
#include <algorithm>
#include <iostream>

#include "experiments/arm/config_folder.h"
#include "experiments/commands.h"
#include "experiments/config_index.h"

namespace draftlab {
namespace {

struct ListFlags {
  std::string format = "text";
  void declare(OptionSet& set) {
    set.add("format", &format)
        .one_of({"text", "markdown"})
        .help("Of configs: lines for a terminal, or the tables of configs/README.md.");
  }
};

int list_configs(const ListFlags& flags, const CommandLine& line) {
  const std::filesystem::path folder = config_folder();
  const std::vector<ConfigEntry> index = config_index(folder);
  const std::string word = line.paths.size() > 1 ? line.paths[1] : "";
  if (flags.format == "text")
    print_configs(index, folder, word);
  else if (word.empty())
    print_config_tables(index);
  else
    throw UsageError("--format markdown prints all configs; leave out '{}'", word);
  return 0;
}

int list_parts(const CommandLine& line, const Registries& registries) {
  std::size_t width = 0;
  std::vector<std::string> kinds;
  const auto each = [&](const auto& visit) {
    registries.each(visit);
    visit(registries.metrics);
  };
  each([&](const auto& registry) {
    kinds.push_back(registry.kind());
    for (const std::string& name : registry.names()) width = std::max(width, name.size());
  });
  std::string wanted = line.paths.empty() ? "" : line.paths[0];
  if (line.paths.size() > 1)
    throw UsageError("draftlab list {} takes no more words; only list configs does", wanted);
  if (!wanted.empty() && std::count(kinds.begin(), kinds.end(), wanted) == 0) {
    const std::string near = nearest(wanted, kinds);
    if (near.empty())
      throw UsageError("there is no kind of part '{}'; draftlab list shows all of them", wanted);
    if (wanted != near + "s")
      throw UsageError("there is no kind of part '{}'; did you mean '{}'?", wanted, near);
    wanted = near;  // The word was the plural of a kind.
  }
  each([&](const auto& registry) {
    if (!wanted.empty() && registry.kind() != wanted) return;
    std::cout << registry.kind() << "\n";
    for (const auto& entry : registry.entries()) {
      std::cout << "  " << entry.name << std::string(width + 2 - entry.name.size(), ' ')
                << entry.summary << "\n";
    }
    if (registry.entries().empty()) std::cout << "  (none)\n";
  });
  if (wanted == registries.metrics.kind())
    std::cout << "\nA family has one metric or several; draftlab report TRACE --metric help shows "
                 "those that a trace has. --plugin FILE loads others (docs/plugins/metric.md).\n";
  if (wanted.empty())
    std::cout
        << "\ndraftlab describe KIND.NAME shows the options of one of them, and draftlab list "
           "configs the configs.\n";
  return 0;
}

int list(const ListFlags& flags, const CommandLine& line, const Registries& registries) {
  if (!line.paths.empty() && line.paths[0] == "configs") return list_configs(flags, line);
  if (flags.format != "text") throw UsageError("--format is for draftlab list configs");
  return list_parts(line, registries);
}

}  // namespace

Command list_command() {
  return {.name = "list",
          .arguments = "[KIND | configs [WORD]]",
          .summary = "parts, or the configs that come with the program",
          .fewest = 0,
          .most = 2,
          .flags = with_flags(list)};
}

}  // namespace draftlab
