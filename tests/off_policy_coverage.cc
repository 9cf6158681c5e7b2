// Prints how often the 95 % intervals of off-policy estimates hold what is enumerated, in percent,
// for logs of the toy `table`. docs/REPORTS.md shows the table.
#include <cstdio>

#include "tests/analysis/replay/off_policy_coverage.h"

int main() {
  std::printf(
      "| epsilon | texts | router | refused | inverse propensity | self-normalised | doubly robust "
      "|\n|--------:|------:|--------|--------:|------:|------:|------:|\n");
  for (const double epsilon : {0.1, 0.3, 0.5}) {
    draftlab::OffPolicyCoverage coverage(epsilon);
    for (const int texts : {100, 300, 1000}) {
      for (const auto& [router, of] : coverage.run(400, texts)) {
        std::printf("| %.1f | %d | %s | %.1f |", epsilon, texts, router.c_str(),
                    100.0 * of.refused / of.logs);
        const int logs = of.logs - of.refused;
        for (const int held : of.held) {
          if (logs < 20)
            std::printf(" - |");
          else
            std::printf(" %.1f |", 100.0 * held / logs);
        }
        std::printf("\n");
        std::fflush(stdout);
      }
    }
  }
}
