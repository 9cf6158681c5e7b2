#include "analysis/report/conclusion.h"

#include <cmath>

#include "core/base/table.h"

namespace draftlab {
namespace {

// What an arm saved, as a metric and in words.
struct Saving {
  std::string metric, words;
};

// A question about vectors is answered by states of the whole canvas, so that the number of
// questions says little of what was computed.
Saving saving_of(const Report& report) {
  const bool states = !report.groups.empty() && report.groups[0].cells.count("states") > 0;
  return states ? Saving{"states", "computed states"} : Saving{"nfe", "function evaluations"};
}

// The ratio baseline / arm of a cost; null where there is none.
const Estimate* ratio(const Report::Group& group, const std::string& cost) {
  const auto& versus = group.cell(cost).versus;
  return versus && !std::isnan(versus->ratio.value) ? &versus->ratio : nullptr;
}

// Says what became of the time, after what is said of evaluations.
std::string of_time(const Report& report, const Report::Group& group) {
  const Estimate* const seconds = ratio(group, "seconds");
  if (!seconds || !report.times_refused.empty()) return "";
  if (seconds->interval.low > 1) return ", in " + fixed(seconds->value, 2) + " times less time";
  if (seconds->interval.high < 1)
    return ", but took " + fixed(1 / seconds->value, 2) + " times as long on this machine";
  return "; whether that saves time here is undecided";
}

}  // namespace

std::string conclusion(const Report& report) {
  const Saving saving = saving_of(report);
  const Report::Group* best = nullptr;
  for (const Report::Group& group : report.groups) {
    const Estimate* const fewer = ratio(group, saving.metric);
    if (fewer && (!best || fewer->value > ratio(*best, saving.metric)->value)) best = &group;
  }
  if (!best) return "";
  const Estimate& fewer = *ratio(*best, saving.metric);
  const std::string& baseline = report.groups[best->baseline].name;
  if (!(fewer.interval.low > 1))
    return "No arm is shown to need fewer " + saving.words + " than " + baseline + ".";
  return best->name + " needed " + fixed(fewer.value, 2) + " times fewer " + saving.words +
         " than " + baseline + of_time(report, *best) + ".";
}

}  // namespace draftlab
