// `draftlab list [KIND]` prints the parts that there are.
#include <algorithm>
#include <iostream>

#include "experiments/commands.h"

namespace draftlab {
namespace {

int list(const CommandLine& line, const Registries& registries) {
  std::size_t width = 0;
  std::vector<std::string> kinds;
  registries.each([&](const auto& registry) {
    kinds.push_back(registry.kind());
    for (const std::string& name : registry.names()) width = std::max(width, name.size());
  });
  std::string wanted = line.paths.empty() ? "" : line.paths[0];
  if (!wanted.empty() && std::count(kinds.begin(), kinds.end(), wanted) == 0) {
    const std::string near = nearest(wanted, kinds);
    if (near.empty())
      throw UsageError("there is no kind of part '{}'; draftlab list shows all of them", wanted);
    if (wanted != near + "s")
      throw UsageError("there is no kind of part '{}'; did you mean '{}'?", wanted, near);
    wanted = near;  // The word was the plural of a kind.
  }
  registries.each([&](const auto& registry) {
    if (!wanted.empty() && registry.kind() != wanted) return;
    std::cout << registry.kind() << "\n";
    for (const auto& entry : registry.entries()) {
      std::cout << "  " << entry.name << std::string(width + 2 - entry.name.size(), ' ')
                << entry.summary << "\n";
    }
    if (registry.entries().empty()) std::cout << "  (none)\n";
  });
  if (wanted.empty())
    std::cout << "\ndraftlab describe KIND.NAME shows the options of one of them.\n";
  return 0;
}

}  // namespace

Command list_command() {
  return {.name = "list",
          .arguments = "[KIND]",
          .summary = "what there is",
          .fewest = 0,
          .flags = without_flags(list)};
}

}  // namespace draftlab
