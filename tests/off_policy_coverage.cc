// Prints how often the 95 % intervals of off-policy estimates hold what is enumerated, in percent,
// for logs of the toy `table`. docs/REPORTS.md shows the table.
//   off_policy_coverage [LOGS]    so many of each kind; 200 if it is not said
#include <cstdio>
#include <cstdlib>

#include "tests/analysis/replay/off_policy_coverage.h"

int main(int count, char** words) {
  const int logs = count > 1 ? std::atoi(words[1]) : 200;
  std::printf(
      "| epsilon | texts | router | refused | inverse propensity | self-normalised | doubly robust "
      "|\n|--------:|------:|--------|--------:|------:|------:|------:|\n");
  for (const double epsilon : {0.5, 0.3}) {
    draftlab::OffPolicyCoverage coverage(epsilon);
    for (const int texts : {100, 300, 1000}) {
      for (const auto& [router, of] : coverage.run(logs, texts)) {
        std::printf("| %.1f | %d | %s | %.1f |", epsilon, texts, router.c_str(),
                    100.0 * of.refused / of.logs);
        const int shown = of.logs - of.refused;
        for (const int held : of.held) {
          if (shown < 20)
            std::printf(" - |");
          else
            std::printf(" %.1f |", 100.0 * held / shown);
        }
        std::printf("\n");
        std::fflush(stdout);
      }
    }
  }
}
