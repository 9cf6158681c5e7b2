// How a quantity of an arm is estimated, and compared with a baseline's, from numbers a prompt.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/report/grouping.h"
#include "analysis/report/paired_proportions.h"
#include "analysis/report/report.h"

namespace draftlab {

// The statistic of sums over prompts, by the jackknife where the quantity asks for it.
Estimate estimate(const Metric& quantity, std::span<const std::vector<double>> columns,
                  const Statistic& statistic, double confidence);

// What is compared: one quantity of two rows, over the prompts that both have.
struct Compared {
  const Metric& quantity;
  PromptSums theirs, mine;
  // It is there where every sample is right or wrong.
  std::optional<Discordance> discordance;
  std::optional<double> margin;
  double confidence = 0.95;
};

// Fills `result` with difference, factor, p value, and what they show within the margin.
void compare(const Compared& compared, Versus& result);

// A margin as the traces' config declared it before anything was decoded; the note says where they
// differ, or declare none.
struct DeclaredMargin {
  double value = 0;
  std::string note;
};
DeclaredMargin declared_margin(const Frame& frame, const std::string& key);

}  // namespace draftlab
