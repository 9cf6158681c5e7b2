#include "experiments/check.h"

#include <iostream>

#include "core/config/composition.h"

namespace draftlab {

int check(const CommandLine& line, const Registries& registries) {
  Faults all;
  for (const std::string& path : line.paths) {
    Faults faults;
    const Config config = Config::read(path, line.overrides, faults);
    const std::vector<Cell> cells = expand(config, registries, faults);
    for (const std::string& sentence : faults.sentences()) all.add(sentence);
    if (!faults.empty()) continue;
    std::cout << path << ": " << cells.size() << (cells.size() == 1 ? " cell\n" : " cells\n");
    const std::string question = config.title().substr(0, config.title().find('\n'));
    if (!question.empty()) std::cout << "  " << question << "\n";
    const bool baseline = config.find("sweep.baseline");
    for (const Cell& cell : cells) {
      std::cout << "  " << cell.id << (cell.label.empty() ? "" : "  " + cell.label)
                << (baseline && &cell == &cells[0] ? "  (baseline)" : "") << "\n";
    }
    for (const std::string& sentence : without_effect(cells, registries))
      std::cout << "  warning: " << sentence << "\n";
  }
  all.raise();
  return 0;
}

}  // namespace draftlab
