// Paired proportions: two arms answer the same prompts, each right or wrong, and the difference of
// their shares rests on the discordant prompts alone.
//
// Interval, p value and equivalence invert one score test (Tango, Statistics in Medicine 17, 1998,
// 891-908). Its variance is estimated under the difference that is tested, so that it does not
// vanish where no prompt is discordant. The continuity correction of one prompt, which at a
// difference of 0 is Edwards' correction of McNemar's test (Psychometrika 13, 1948), keeps it at
// its level for few prompts, too; without it, "equivalent" is said in up to 5.7 % of experiments at
// the margin (docs/REPORTS.md has the table, and tests/equivalence_coverage.cc prints it).
#pragma once

#include "analysis/report/statistics.h"

namespace draftlab {

// How many prompts the arm alone gets right, and the baseline alone. With several samples a prompt,
// each counts as a share of its prompt; that is conservative, since the mean of several samples
// varies less than one of them.
struct Discordance {
  double gained = 0, lost = 0;
  int prompts = 0;
};

// Returns the score statistic of the true difference being `difference`, with its correction.
double score_statistic(const Discordance& found, double difference);

// Returns the two-sided p value of the true difference being 0.
double score_p(const Discordance& found);

// The difference of the shares, with the differences that the score test does not reject.
Estimate difference(const Discordance& found, double confidence = 0.95);

Equivalence equivalence(const Discordance& found, double margin);
NonInferiority non_inferiority(const Discordance& found, double margin, int sign = 1);

}  // namespace draftlab
