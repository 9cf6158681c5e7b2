#include "analysis/figures/figures.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>

#include "analysis/frame/timing.h"
#include "analysis/frame/widened.h"
#include "analysis/report/words.h"
#include "core/base/error.h"

namespace draftlab {

int PlotData::series_of(std::int64_t sample) const {
  const Frame::Sample& s = frame.samples()[static_cast<std::size_t>(sample)];
  return s.counts ? grouping.group_of[static_cast<std::size_t>(s.arm)] : -1;
}

std::vector<std::string> PlotData::names() const {
  std::vector<std::string> names;
  for (const FigureItem& item : figure_items(grouping)) names.push_back(words_of(item));
  return names;
}

std::vector<FigureItem> items_of(const PlotData& data, const Report& report) {
  const std::vector<FigureItem> known = figure_items(data.grouping);
  std::vector<FigureItem> list;
  for (const Report::Group& group : report.groups) {
    list.push_back(*std::find_if(known.begin(), known.end(), [&](const FigureItem& one) {
      return data.grouping.groups[static_cast<std::size_t>(one.group)].arms == group.arms;
    }));
    list.back().group = static_cast<int>(list.size()) - 1;
  }
  return list;
}

std::string AxisQuantity::label() const {
  return factor ? factor_words(*quantity) : title_words(*quantity);
}

Estimate AxisQuantity::of(const Report::Group& group) const {
  const ReportCell& cell = group.cell(*quantity);
  return !factor ? cell.value : cell.versus ? cell.versus->ratio : Estimate{1, {1, 1}};
}

bool AxisQuantity::share() const {
  return !factor && (quantity->share || quantity->margin == "margin_score");
}

void each_shown(const PlotData& data, const ReadColumns& columns,
                const std::function<void(const ShownSample&)>& visit) {
  data.frame.walk(columns.steps, columns.lower, columns.rows, [&](const Frame::Block& block) {
    for (std::size_t i = 0; i < block.samples.size(); ++i) {
      const int series = data.series_of(block.samples[i]);
      if (series < 0) continue;
      const auto sample = static_cast<std::size_t>(block.samples[i]);
      visit({block, i, static_cast<std::size_t>(series), data.frame.samples()[sample].prompt,
             block.step_begin[i], block.step_begin[i + 1]});
    }
  });
}

void each_draft(const PlotData& data, const std::vector<std::string>& steps,
                const std::vector<std::string>& drafts,
                const std::function<void(const ShownDraft&)>& visit) {
  ReadColumns columns{{"step_verified"}, Table::draft, {"draft_depth"}};
  columns.steps.insert(columns.steps.end(), steps.begin(), steps.end());
  columns.rows.insert(columns.rows.end(), drafts.begin(), drafts.end());
  each_shown(data, columns, [&](const ShownSample& sample) {
    for (std::int64_t s = sample.begin; s < sample.end; ++s) {
      if (sample.block.steps[0][s] == 0) continue;
      for (auto d = sample.block.row_begin[s]; d < sample.block.row_begin[s + 1]; ++d)
        visit({sample, s, d});
    }
  });
}

std::size_t prompts_of(const PlotData& data) {
  std::size_t prompts = 0;
  for (const Frame::Sample& sample : data.frame.samples())
    prompts = std::max(prompts, static_cast<std::size_t>(sample.prompt) + 1);
  return prompts;
}

Report report_of(const PlotData& data, const ShownMetrics& shown) {
  ReportRequest request{.by = shown.by, .baseline = data.request.baseline};
  request.known = data.request.known;
  for (const Metric* const metric : shown.metrics) {
    const std::string refused = metric->timing ? times_refused(data.frame) : "";
    if (!refused.empty())
      throw DataError("the figure '{}' would compare {}, and times may not be compared: {}",
                      shown.figure, metric->name, refused);
    request.metrics.push_back(metric->name);
  }
  return make_report(data.frame, request);
}

std::vector<std::string> swept_keys(const Frame& frame) {
  std::vector<std::string> keys;
  for (const Frame::Arm& arm : frame.arms())
    for (const AxisRow& axis : arm.run.axes)
      if (std::count(keys.begin(), keys.end(), axis.key) == 0) keys.push_back(axis.key);
  return keys.empty() ? frame.varying() : keys;
}

bool is_seed(const std::string& key) { return key == "seed" || key.ends_with(".seed"); }

std::vector<std::string> values_of(const Frame& frame, const std::string& key) {
  std::set<std::string> values;
  for (std::size_t arm = 0; arm < frame.arms().size(); ++arm)
    values.insert(frame.key(static_cast<int>(arm), key));
  values.erase("");
  std::vector<std::string> sorted(values.begin(), values.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const std::string& a, const std::string& b) {
    const auto x = number_of(a), y = number_of(b);
    return x && y ? *x < *y : x.has_value() && !y;
  });
  return sorted;
}

std::string chosen_score(const PlotData& data) {
  if (!data.request.score.empty()) return data.request.score;
  // A score in which samples differ at all.
  for (const std::string& score : data.quantities.samples().plain_scores()) {
    std::vector<double> values = data.quantities.of(data.quantities.find(score)).above();
    std::erase_if(values, [](double value) { return value != value; });
    if (std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) != values.end())
      return score;
  }
  return "perplexity";
}

std::string sampling_note(const PlotData& data, std::size_t prompts, const std::string& intervals) {
  std::size_t samples = 0;
  for (std::size_t i = 0; i < data.frame.samples().size(); ++i)
    samples += data.series_of(static_cast<std::int64_t>(i)) >= 0;
  const std::string widened = widened_note(data.frame);
  return (widened.empty() ? "" : "The target was " + widened + " parameters. ") +
         std::to_string(prompts) + (prompts == 1 ? " prompt, " : " prompts, ") +
         std::to_string(samples) + " samples; " +
         (prompts < 2 ? "a single prompt gives no intervals" : intervals) + ".";
}

}  // namespace draftlab
