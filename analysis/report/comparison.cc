#include "analysis/report/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "analysis/report/report_options.h"
#include "core/base/error.h"
#include "core/base/table.h"

namespace draftlab {
namespace {

// Of a quantity that no prompt has by itself: the difference of two statistics, of the same
// resampled prompts for both arms.
void compare_as_a_whole(const Compared& compared, Versus& result) {
  const Metric& quantity = compared.quantity;
  std::vector<std::vector<double>> columns = compared.theirs.columns;
  columns.insert(columns.end(), compared.mine.columns.begin(), compared.mine.columns.end());
  const auto gain = [&](std::span<const double> s) {
    return quantity.statistic(s.subspan(s.size() / 2)) - quantity.statistic(s.first(s.size() / 2));
  };
  result.difference = estimate(quantity, columns, gain, compared.confidence);
  if (!compared.margin) return;
  const Estimate narrower = estimate(quantity, columns, gain, 0.9);
  result.equivalence = equivalence(narrower, result.prompts, *compared.margin);
  if (quantity.better != 0)
    result.non_inferiority =
        non_inferiority(narrower, result.prompts, *compared.margin, quantity.better);
}

// Of shares of prompts that are right: all of it by one score test.
void compare_shares(const Compared& compared, Versus& result) {
  const Discordance& found = *compared.discordance;
  result.difference = difference(found, compared.confidence);
  if (result.prompts >= kLeastPrompts) result.p = score_p(found);
  if (!compared.margin) return;
  result.equivalence = equivalence(found, *compared.margin);
  if (compared.quantity.better != 0)
    result.non_inferiority = non_inferiority(found, *compared.margin, compared.quantity.better);
}

// The ratio of sums of a cost or a rate, and how many prompts it takes where its interval holds 1.
void find_factor(const Compared& compared, Versus& result) {
  const PromptSums &theirs = compared.theirs, &mine = compared.mine;
  const int sign = compared.quantity.compare == Metric::Compare::cost ? 1 : -1;
  const std::vector<double> columns[] = {theirs.columns[0], theirs.columns[1], mine.columns[0],
                                         mine.columns[1]};
  const auto [logs, p] = cluster_bootstrap_test(
      columns,
      [&](std::span<const double> s) {
        const bool positive = s[0] > 0 && s[1] > 0 && s[2] > 0 && s[3] > 0;
        return positive ? sign * std::log((s[0] / s[1]) / (s[2] / s[3])) : kNotMeasured;
      },
      0, compared.confidence);
  if (result.prompts >= kLeastPrompts) result.p = p;
  result.ratio = {std::exp(logs.value),
                  {std::exp(logs.interval.low), std::exp(logs.interval.high)}};
  if (!(logs.interval.low < 0 && logs.interval.high > 0)) return;
  const double z = 1.959964, error = (logs.interval.high - logs.interval.low) / (2 * z) *
                                     std::sqrt(static_cast<double>(result.prompts));
  result.needed = prompts_for_difference(error, std::log(kVisibleRatio));
}

}  // namespace

Estimate estimate(const Metric& quantity, std::span<const std::vector<double>> columns,
                  const Statistic& statistic, double confidence) {
  if (quantity.jackknife == Metric::Jackknife::none)
    return cluster_bootstrap(columns, statistic, confidence);
  const Estimate unbiased = jackknife(columns, statistic, confidence);
  if (quantity.jackknife == Metric::Jackknife::value) return unbiased;
  std::vector<double> totals;
  for (const std::vector<double>& column : columns)
    totals.push_back(std::accumulate(column.begin(), column.end(), 0.0));
  const double value = statistic(totals), bias = value - unbiased.value;
  return {value, {unbiased.interval.low + bias, unbiased.interval.high + bias}};
}

void compare(const Compared& compared, Versus& result) {
  const Metric& quantity = compared.quantity;
  if (!quantity.by_prompt()) return compare_as_a_whole(compared, result);
  std::vector<double> their_means, my_means;
  for (std::size_t i = 0; i < compared.mine.prompts.size(); ++i) {
    their_means.push_back(compared.theirs.columns[0][i] / compared.theirs.columns[1][i]);
    my_means.push_back(compared.mine.columns[0][i] / compared.mine.columns[1][i]);
  }
  if (quantity.compare != Metric::Compare::difference) {
    result.difference = difference(their_means, my_means, compared.confidence);
    return find_factor(compared, result);
  }
  if (compared.discordance) return compare_shares(compared, result);
  result.difference = difference(their_means, my_means, compared.confidence);
  if (result.prompts >= kLeastPrompts) result.p = difference_p(their_means, my_means);
  if (!compared.margin) return;
  result.equivalence = equivalence(their_means, my_means, *compared.margin);
  if (quantity.better != 0)
    result.non_inferiority =
        non_inferiority(their_means, my_means, *compared.margin, quantity.better);
}

DeclaredMargin declared_margin(const Frame& frame, const std::string& key) {
  ReportOptions defaults;
  OptionSet set;
  defaults.declare(set);
  const auto option = std::find_if(set.options().begin(), set.options().end(),
                                   [&](const Option& one) { return one.name() == key; });
  if (option == set.options().end()) throw Fault("there is no [report] {}", key);
  DeclaredMargin margin{std::atof(option->value().c_str()), ""};
  bool declared = false;
  for (const Frame::File& file : frame.files()) {
    const auto found = file.config.find("report." + key);
    if (found == file.config.end()) continue;
    const double value = std::atof(found->second.c_str());
    if (declared && value != margin.value)
      margin.note = "The traces declare different margins ([report] " + key +
                    "); the widest is not taken, the first is.";
    else if (value > 0)
      margin.value = value;
    declared = true;
  }
  if (!declared)
    margin.note = "No trace declares [report] " + key + "; its default " + fixed(margin.value, 3) +
                  " was taken.";
  return margin;
}

}  // namespace draftlab
