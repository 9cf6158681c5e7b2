#include "analysis/report/choice.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "analysis/frame/timing.h"
#include "analysis/report/baselines.h"
#include "analysis/report/grouping.h"
#include "core/base/error.h"
#include "core/base/table.h"

namespace draftlab {
namespace {

// What an arm is, whatever task, split and seed it was run with.
std::string method_of(const Frame& frame, int arm) {
  std::string text = frame.arms()[arm].run.checkpoint_digest;
  for (const auto& [key, value] : frame.arms()[arm].config) {
    if (key.starts_with("task") || key == "run.seed" || key == "arm" || key == "id" ||
        key == "checkpoint")
      continue;
    text += "\n" + key + "=" + value;
  }
  return text;
}

bool is_count(const std::string& text) {
  return !text.empty() && text.size() < 10 &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

// The methods that are best in their group, by groups of `request.by`; without keys: the
// baseline's, and the best of all others.
std::set<std::string> best_methods(const Frame& tuning, const ReportRequest& request,
                                   std::vector<std::string>& notes) {
  const Metrics quantities(tuning, *request.known);
  const Metric& quantity = quantities.find(request.choose);
  if (quantity.better == 0)
    throw UsageError("--choose {}: neither more nor less of it is better, so no arm is the best",
                     request.choose);
  if (const std::string refused = quantity.timing ? times_refused(tuning) : ""; !refused.empty())
    throw DataError("--choose {}: times may not be compared, since {}", request.choose, refused);
  const Grouping singles(tuning, {});
  const Pairing pairing(tuning, singles);
  const Measured& measured = quantities.of(quantity);
  struct Best {
    double value;
    int group;
    int among;
  };
  std::map<std::vector<std::string>, Best> best;
  std::set<std::string> methods;
  for (std::size_t g = 0; g < singles.groups.size(); ++g) {
    const int arm = singles.groups[g].arms[0];
    std::vector<std::string> keys;
    for (const std::string& key : request.by) keys.push_back(tuning.key(arm, key));
    if (request.by.empty() && !request.baseline.empty() &&
        is_baseline(tuning, singles.groups[g].arms, request.baseline)) {
      methods.insert(method_of(tuning, arm));
      continue;
    }
    const PromptSums sums = pairing.all(static_cast<int>(g), measured);
    std::vector<double> totals;
    for (const auto& column : sums.columns)
      totals.push_back(std::accumulate(column.begin(), column.end(), 0.0));
    const double value = quantity.statistic(totals);
    if (std::isnan(value)) continue;
    const auto [found, fresh] = best.emplace(keys, Best{value, static_cast<int>(g), 0});
    ++found->second.among;
    if (!fresh && quantity.better * (value - found->second.value) > 0)
      found->second.value = value, found->second.group = static_cast<int>(g);
  }
  std::size_t prompts = 0;
  {
    std::set<int> seen;
    for (const Frame::Sample& sample : tuning.samples())
      if (sample.counts) seen.insert(sample.prompt);
    prompts = seen.size();
  }
  for (const auto& [keys, winner] : best) {
    const Grouping::Group& group = singles.groups[winner.group];
    methods.insert(method_of(tuning, group.arms[0]));
    notes.push_back(
        "Chosen: " + group.name + ", the best of " + std::to_string(winner.among) + " in " +
        quantity.name + " (" +
        fixed(quantity.exponential ? std::exp(winner.value) : winner.value, quantity.digits) +
        ") on " + std::to_string(prompts) + " prompts that are not reported.");
  }
  if (best.empty())
    throw DataError("no tuning sample measures '{}', so no arm can be chosen by it",
                    request.choose);
  return methods;
}

}  // namespace

Frame chosen(const Frame& frame, const ReportRequest& request, std::vector<std::string>& notes) {
  std::vector<char> keep(frame.samples().size(), 1);
  std::set<std::string> methods;
  if (request.tune.size() == 1 && is_count(request.tune[0])) {
    const std::vector<double> index = frame.numbers("sample_prompt_index");
    const std::set<double> indices(index.begin(), index.end());
    const std::size_t count = std::stoul(request.tune[0]);
    if (count == 0 || count >= indices.size()) {
      throw UsageError(
          "--tune {} must leave some of the {} prompts to choose on and some to report",
          request.tune[0], indices.size());
    }
    const double first_reported = *std::next(indices.begin(), static_cast<std::ptrdiff_t>(count));
    std::vector<char> tuning(keep.size());
    for (std::size_t i = 0; i < keep.size(); ++i) {
      tuning[i] = index[i] < first_reported;
      keep[i] = !tuning[i];
    }
    methods = best_methods(frame.restricted(tuning), request, notes);
  } else {
    const Frame tuning(request.tune);
    std::set<std::string> used;
    for (const Frame::Sample& sample : tuning.samples())
      used.insert(tuning.prompts()[sample.prompt]);
    for (const Frame::Sample& sample : frame.samples()) {
      if (!used.contains(frame.prompts()[sample.prompt])) continue;
      throw DataError(
          "prompt '{}' of '{}' is also in the traces that choose; what is chosen on a prompt "
          "cannot be reported on it",
          frame.prompts()[sample.prompt], frame.files()[sample.file].path);
    }
    methods = best_methods(tuning, request, notes);
  }
  bool any = false;
  for (std::size_t i = 0; i < keep.size(); ++i) {
    keep[i] = keep[i] && methods.contains(method_of(frame, frame.samples()[i].arm));
    any = any || keep[i];
  }
  if (!any) throw DataError("the arms that were chosen are not in '{}'", frame.files()[0].path);
  return frame.restricted(keep);
}

}  // namespace draftlab
