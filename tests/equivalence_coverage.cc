// Prints how often two arms that differ by exactly the margin are called equivalent, in percent:
// the largest share over margins of 1 to 50 points and all dependence of the arms' answers.
// docs/REPORTS.md shows the table. The program fails where a share is above 5 %.
#include <array>
#include <cstdio>
#include <memory>
#include <vector>

#include "tests/analysis/report/equivalence_size.h"

int main() {
  constexpr std::array kRates = {0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999};
  constexpr std::array kMargins = {0.01, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5};
  std::printf("| prompts |");
  for (const double rate : kRates) std::printf(" %g |", rate);
  std::printf("\n|--------:|");
  for (std::size_t i = 0; i < kRates.size(); ++i) std::printf("-----:|");
  std::printf("\n");
  bool kept = true;
  for (const int prompts : {3, 10, 60, 300}) {
    std::array<double, kRates.size()> most{};
    for (const double margin : kMargins) {
      const draftlab::EquivalenceSize size(prompts, margin);
      for (std::size_t i = 0; i < kRates.size(); ++i)
        most[i] = std::max(most[i], size.largest(kRates[i]));
    }
    std::printf("| %7d |", prompts);
    for (const double share : most) {
      std::printf(" %.2f |", 100 * share);
      kept = kept && share <= 0.05;
    }
    std::printf("\n");
  }
  return kept ? 0 : 1;
}
