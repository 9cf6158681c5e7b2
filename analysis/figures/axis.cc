// One quantity along one axis of a sweep, a line for each combination of the others.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "analysis/figures/figures.h"
#include "analysis/report/report.h"
#include "core/base/error.h"

namespace draftlab {

Picture axis_figure(const PlotData& data) {
  const std::vector<std::string> keys = swept_keys(data.frame);
  const auto numeric = [&](const std::string& key) {
    const std::vector<std::string> values = values_of(data.frame, key);
    return values.size() > 1 &&
           std::all_of(values.begin(), values.end(),
                       [](const std::string& value) { return number_of(value).has_value(); });
  };
  const auto found = std::find_if(keys.begin(), keys.end(), numeric);
  if (data.request.axes.empty() && found == keys.end())
    throw DataError(
        "the figure 'axis' needs a sweep over a key whose values are numbers, and these traces "
        "have none");
  const std::string along = data.request.axes.empty() ? *found : data.request.axes.front();
  if (!numeric(along))
    throw DataError("the figure 'axis' needs numbers along '" + along +
                    "', and the arms of these traces have none, or only one");
  const Quantity& quantity =
      data.quantities.find(data.request.score.empty() ? "tokens_per_forward" : data.request.score);
  ReportRequest request;
  for (const std::string& key : keys)
    if (key != along) request.by.push_back(key);
  request.by.push_back(along);
  request.baseline = data.request.baseline;
  request.metrics = {quantity.name};
  const Report report = make_report(data.frame, request);
  std::vector<const Report::Group*> shown;
  for (const Report::Group& group : report.groups)
    if (number_of(group.keys.back()) && std::isfinite(group.cells[0].value.value))
      shown.push_back(&group);
  if (shown.empty())
    throw DataError("the figure 'axis' shows " + quantity.name +
                    ", and no arm has it; choose another with --score");
  const auto varies = [&](std::size_t k) {
    return std::any_of(shown.begin(), shown.end(), [&](const Report::Group* group) {
      return group->keys[k] != shown[0]->keys[k];
    });
  };
  std::map<std::string, std::map<double, const ReportCell*>> lines;
  std::vector<std::string> names;
  std::size_t prompts = 0;
  for (const Report::Group* group : shown) {
    std::string name;
    for (std::size_t k = 0; k + 1 < group->keys.size(); ++k)
      if (varies(k)) name += (name.empty() ? "" : " ") + request.by[k] + "=" + group->keys[k];
    name = short_name(name);
    if (!lines.contains(name)) names.push_back(name);
    lines[name][*number_of(group->keys.back())] = &group->cells[0];
    prompts = std::max(prompts, static_cast<std::size_t>(group->cells[0].prompts));
  }
  std::string table, commands = "set offsets graph 0.04, graph 0.04, graph 0.06, graph 0.04\nplot ";
  for (std::size_t i = 0; i < names.size(); ++i) {
    table +=
        (i ? "\n\n" : "") + std::string("# ") + names[i] + "\n# " + along + " value low high\n";
    for (const auto& [x, cell] : lines[names[i]]) {
      table += number_text(x) + " " + estimate_text(bounded(cell->value)) + "\n";
    }
    const std::string block =
        (i ? ", \\\n  " : "") + std::string("'axis.dat' index ") + std::to_string(i);
    commands += block + " using 1:2 with lines lc rgb '" + colour(i) + "' dt " +
                std::to_string(1 + i / 8 % 4) + " lw 1.5, 'axis.dat' index " + std::to_string(i) +
                " using 1:2:3:4 with yerrorbars " + line_style(i) + " ps 1";
  }
  Sheet sheet("axis",
              {.columns = 1, .rows = 1, .panel_width = 640, .panel_height = 400, .left = 84});
  if (names.size() > 1) sheet.legend(names);
  sheet.data("axis.dat", table);
  const std::string direction = quantity.better > 0   ? " (more is better)"
                                : quantity.better < 0 ? " (less is better)"
                                                      : "";
  sheet.panel(quantity.title + " along " + along, along, quantity.title + direction, commands);
  return sheet.picture(sampling_note(data, prompts, "bars: 95 % intervals from resampled prompts"));
}

}  // namespace draftlab
