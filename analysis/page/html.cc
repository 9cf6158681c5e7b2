#include "analysis/page/html.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "analysis/frame/marks.h"
#include "analysis/page/page_parts.h"
#include "analysis/page/page_trajectories.h"
#include "analysis/report/words.h"
#include "core/base/table.h"
#include "core/base/text.h"

namespace draftlab {
namespace {

using Json = nlohmann::ordered_json;

// Returns what the groups' names say, "drafter=self decode.draft_length=5", as columns, and none
// when a name says something else.
std::vector<std::string> keys_of(const Report& report, Json& values_of_groups) {
  std::vector<std::string> keys = report.by;
  std::vector<std::map<std::string, std::string>> said(report.groups.size());
  for (std::size_t g = 0; g < report.groups.size(); ++g) {
    std::istringstream words(report.groups[g].name);
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) continue;
      const std::string key = word.substr(0, equals);
      said[g][key] = word.substr(equals + 1);
      if (report.by.empty() && std::find(keys.begin(), keys.end(), key) == keys.end())
        keys.push_back(key);
    }
    for (std::size_t k = 0; k < report.by.size() && k < report.groups[g].keys.size(); ++k)
      said[g][report.by[k]] = report.groups[g].keys[k];
  }
  for (const auto& values : said) {
    Json row = Json::array();
    for (const std::string& key : keys) row.push_back(values.contains(key) ? values.at(key) : "");
    values_of_groups.push_back(row);
  }
  return keys;
}

Json number(const Estimate& estimate) {
  Json cell = {{"value", estimate.value}};
  if (std::isfinite(estimate.interval.low) && std::isfinite(estimate.interval.high)) {
    cell["low"] = estimate.interval.low;
    cell["high"] = estimate.interval.high;
  }
  return cell;
}

// Writes every quantity as a column, and behind costs and rates their ratio to the baseline; each
// group has its cells.
void table(const Report& report, Json& metrics, std::vector<Json>& cells) {
  cells.assign(report.groups.size(), Json::array());
  for (const Metric& quantity : report.quantities) {
    metrics.push_back({{"name", quantity.title},
                       {"help", quantity.doc},
                       {"digits", quantity.digits},
                       {"better", quantity.better},
                       {"refused", quantity.timing && !report.times_refused.empty()}});
    for (std::size_t g = 0; g < report.groups.size(); ++g)
      cells[g].push_back(number(report.groups[g].cell(quantity).value));
    const bool cost = quantity.compare == Metric::Compare::cost;
    if (quantity.compare == Metric::Compare::difference || report.groups.size() < 2) continue;
    metrics.push_back({{"name", (cost ? "fewer " : "more ") + quantity.title},
                       {"help", "how many times, against the baseline"},
                       {"digits", 2},
                       {"better", 1},
                       {"refused", quantity.timing && !report.times_refused.empty()}});
    for (std::size_t g = 0; g < report.groups.size(); ++g) {
      const auto& versus = report.groups[g].cell(quantity).versus;
      cells[g].push_back(versus ? number(versus->ratio) : Json{{"value", 1.0}});
    }
  }
}

// Returns the label that a config gave the arm, or what distinguishes it, in words: "self, draft
// length 5".
std::string label_of(const Report& report, const Report::Group& group) {
  std::string text;
  const auto add = [&](const std::string& words) { text += (text.empty() ? "" : ", ") + words; };
  for (std::size_t k = 0; k < report.by.size(); ++k)
    add(value_words(report.by[k], group.keys[k], report.by));
  if (!report.by.empty()) return text;
  if (!group.called.label.empty()) add(group.called.label);
  for (const auto& [key, value] : group.called.values) add(value_words(key, value));
  return text.empty() ? "all" : text;
}

// Chooses the axes. The horizontal one is the first ratio or rate; the vertical one is the last of
// a task's scores in which groups differ, else any measure of quality.
std::pair<int, int> axes(const Report& report, const Json& metrics,
                         const std::vector<Json>& cells) {
  const auto count = static_cast<int>(metrics.size());
  const auto differs = [&](int m) {
    return std::any_of(cells.begin(), cells.end(),
                       [&](const Json& row) { return row[m]["value"] != cells[0][m]["value"]; });
  };
  int x = 0, y = count - 1;
  for (int m = count - 1; m >= 0; --m)
    if (metrics[m]["better"] == 1 && !metrics[m]["refused"].get<bool>() &&
        (metrics[m]["name"].get<std::string>().starts_with("fewer ") || m == x))
      x = m;
  std::map<std::string, int> column;
  for (int m = 0; m < count; ++m) column[metrics[m]["name"].get<std::string>()] = m;
  for (const Metric& quantity : report.quantities) {
    const int m = column[quantity.title];
    // Scores come last.
    if (quantity.compare == Metric::Compare::difference && quantity.better != 0 && differs(m))
      y = m;
  }
  return {x, y};
}

// Says how many function evaluations the groups save. Of more groups than a reader takes in, only
// the one that saves most.
std::vector<Report::Finding> savings(const Report& report) {
  constexpr std::size_t kMostSentences = 8;
  std::vector<Report::Finding> found;
  double most = 0;
  for (std::size_t g = 0; g < report.groups.size(); ++g) {
    const auto& cells = report.groups[g].cells;
    const auto cell = cells.find("nfe");
    if (cell == cells.end() || !cell->second.versus) continue;
    const Estimate& ratio = cell->second.versus->ratio;
    const double low = ratio.interval.low, high = ratio.interval.high;
    if (std::isnan(low) || std::isnan(high)) continue;
    const bool more = high < 1;
    const bool known = more || low > 1;
    const std::string words = more ? " times more" : " times fewer";
    const auto shown = [&](double factor) { return fixed(more ? 1 / factor : factor, 2); };
    const std::string factor = shown(ratio.value) + words + (known ? " function evaluations" : "") +
                               " [" + shown(more ? high : low) + ", " + shown(more ? low : high) +
                               "]";
    const std::string sentence =
        known ? factor : "about as many function evaluations (" + factor + ")";
    if (report.groups.size() > kMostSentences + 1 && ratio.value <= most) continue;
    if (report.groups.size() > kMostSentences + 1) found.clear();
    most = ratio.value;
    found.push_back({static_cast<int>(g), sentence});
  }
  if (report.groups.size() > kMostSentences + 1 && !found.empty())
    found[0].sentence += ", the fewest of all";
  return found;
}

// Writes JSON inside HTML, so that no tag begins, and no line ends that a script would see.
std::string embedded(const Json& json) {
  std::string text;
  for (char c : json.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  }
  return text;
}

std::string escaped(const std::string& text) {
  std::string result;
  for (char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '&')
      result += "&amp;";
    else
      result += c;
  }
  return result;
}

// What was made, and what was found of it.
Json heading(const Frame& frame, const Report& report, std::size_t prompts) {
  const Provenance& made = frame.files().front().provenance;
  const std::string title = first_sentence(made.title);
  Json data;
  data["title"] = title.empty() ? frame.files().front().path : title;
  data["about"] = made.title.substr(std::min(made.title.size(), title.size() + 1));
  data["made"] = made.software + (made.git_commit.empty() ? "" : " (" + made.git_commit + ")") +
                 (made.started.empty() ? "" : ", " + made.started) +
                 (made.cpu.empty() ? "" : ", " + made.cpu);
  std::vector<std::string> notes = report.notes;
  if (prompts < frame.prompts().size()) {
    notes.push_back("Trajectories: the first " + std::to_string(prompts) + " of " +
                    std::to_string(frame.prompts().size()) + " prompts.");
  }
  data["caption"] = joined(notes, "\n");
  std::vector<Report::Finding> findings = savings(report);
  findings.insert(findings.end(), report.findings.begin(), report.findings.end());
  data["findings"] = Json::array();
  for (const Report::Finding& finding : findings)
    data["findings"].push_back({{"arm", finding.group}, {"sentence", finding.sentence + "."}});
  return data;
}

// The table of arms, each with the mark that it has in the figures. Where there are more arms than
// marks, the last mark stands for the others.
void add_table(const Report& report, Json& data) {
  Json keys = Json::array(), metrics = Json::array();
  std::vector<Json> cells;
  data["keys"] = keys_of(report, keys);
  table(report, metrics, cells);
  data["metrics"] = metrics;
  const auto [x, y] = axes(report, metrics, cells);
  data["axes"] = {x, y};
  data["arms"] = Json::array();
  for (std::size_t g = 0; g < report.groups.size(); ++g) {
    const std::size_t mark = std::min(g, kMarks - 1);
    data["arms"].push_back({{"label", label_of(report, report.groups[g])},
                            {"baseline", report.groups[g].baseline},
                            {"colour", mark_colour(mark)},
                            {"shape", mark_shape(mark)},
                            {"keys", keys[g]},
                            {"values", cells[g]}});
  }
}

}  // namespace

std::string html_page(const Frame& frame, const Report& report, const PageOptions& options) {
  const auto prompts =
      std::min<std::size_t>(frame.prompts().size(), static_cast<std::size_t>(options.prompts));
  Json data = heading(frame, report, prompts);
  add_table(report, data);

  const PageTrajectories trajectories = page_trajectories(frame, report, static_cast<int>(prompts));
  data["prompts"] = std::vector<std::string>(
      frame.prompts().begin(), frame.prompts().begin() + static_cast<std::ptrdiff_t>(prompts));
  data["references"] = trajectories.references;
  data["texts"] = trajectories.texts;
  data["pieces"] = trajectories.pieces;
  data["ids"] = trajectories.ids;
  data["blocks"] = trajectories.blocks;
  data["columns"] = trajectories.columns;

  const std::map<std::string, std::string> parts = {
      {"title", escaped(data["title"].get<std::string>())},
      {"style", kPageStyle},
      {"data", embedded(data)},
      {"script", kPageScript}};
  std::string text;
  const std::string page = kPageFrame;
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t open = page.find("{{", at), close = page.find("}}", open);
    text += page.substr(at, open - at);
    if (open == std::string::npos) break;
    text += parts.at(page.substr(open + 2, close - open - 2));
    at = close + 2;
  }
  return text;
}

}  // namespace draftlab
