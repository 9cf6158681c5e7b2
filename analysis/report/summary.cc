#include "analysis/report/summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/report/conclusion.h"
#include "analysis/report/report.h"
#include "core/base/table.h"

namespace draftlab {
namespace {

constexpr std::size_t kWidth = 100, kLongestName = 48;
constexpr std::size_t kMostFindings = 6;  // Lines.

// "decode.block_size=4 router=ucb run.seed=1" as "block_size=4 router=ucb", where every arm has
// that seed and no other key ends alike.
std::vector<std::string> shortened(const std::vector<Report::Group>& groups) {
  std::map<std::pair<std::string, std::string>, std::size_t> uses;
  std::map<std::string, std::set<std::string>> ends;
  const auto end_of = [](const std::string& key) { return key.substr(key.rfind('.') + 1); };
  for (const Report::Group& group : groups) {
    for (const auto& value : group.called.values) {
      ++uses[value];
      ends[end_of(value.first)].insert(value.first);
    }
  }
  std::vector<std::string> names;
  for (const Report::Group& group : groups) {
    ArmName name{group.called.label};
    for (const auto& [key, value] : group.called.values) {
      if (groups.size() > 1 && uses[{key, value}] == groups.size()) continue;
      const std::string end = end_of(key);
      name.values.emplace_back(ends[end].size() == 1 ? end : key, value);
    }
    const std::string text = name.text();
    names.push_back(text.empty() ? group.name : text);
  }
  return names;
}

const std::vector<std::string> kKinds = {"prefill", "draft", "verify", "commit", "aux"};

// The columns of the first table and of the second: what was spent, and what came of it.
std::vector<std::string> costs(const Metrics& quantities, bool vectors) {
  std::vector<std::string> metrics;
  for (const std::string& kind : kKinds) {
    const bool always = kind == "draft" || kind == "verify";
    if (always || quantities.spent("nfe_" + kind)) metrics.push_back("nfe_" + kind);
  }
  if (vectors) metrics.push_back("states");
  metrics.push_back("nfe");
  if (!vectors) metrics.push_back("tokens_per_forward");
  metrics.push_back("tokens_per_step");
  if (quantities.spent("drafter_nfe")) metrics.push_back("drafter_nfe");
  metrics.push_back("seconds");
  return metrics;
}

std::vector<std::string> worth(const Metrics& quantities) {
  std::vector<std::string> metrics;
  for (const Metric& quantity : quantities.all()) {
    if (quantity.margin.empty() || quantity.name == "nll") continue;
    const bool always = quantity.name == "perplexity" || quantity.name == "entropy_bits";
    if (always || quantities.measured(quantity)) metrics.push_back(quantity.name);
  }
  return metrics;
}

std::string factor(const Report::Group& group, const Metric& quantity) {
  const auto& versus = group.cell(quantity).versus;
  if (!versus) return "1";
  const Estimate& ratio = versus->ratio;
  if (std::isnan(ratio.value)) return "-";
  return fixed(ratio.value, 2) + "x" +
         (std::isnan(ratio.interval.low)
              ? ""
              : " [" + fixed(ratio.interval.low, 2) + ", " + fixed(ratio.interval.high, 2) + "]");
}

// What was found of each arm: in sentences where these are few, and else in few words, of as many
// arms as there is room for.
std::string findings(const Report& report) {
  std::string sentences, brief;
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    const Report::Finding& finding = report.findings[i];
    if (i == 0 || report.findings[i - 1].group != finding.group) {
      sentences += report.pair(finding.group) + ":\n";
      brief += report.pair(finding.group) + ": " + report.found(finding.group) + "\n";
    }
    sentences += "  " + finding.sentence + "\n";
  }
  const auto lines = [](const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  };
  const std::string whole = wrapped(sentences, kWidth);
  if (lines(whole) <= kMostFindings) return whole;
  std::istringstream arms(brief);
  std::string shown;
  std::size_t left = lines(brief);
  for (std::string arm; std::getline(arms, arm); --left) {
    const std::string next = wrapped(arm, kWidth);
    if (lines(shown) + lines(next) + (left > 1) > kMostFindings) break;
    shown += next;
  }
  if (left > 0)
    shown += std::to_string(left) + " more arms were judged; draftlab report has all findings.\n";
  return shown;
}

// Groups with one baseline stand in one table, in the order of the sweep.
std::map<int, std::vector<int>> tables_of(const Report& report) {
  std::map<int, std::vector<int>> tables;
  for (std::size_t g = 0; g < report.groups.size(); ++g)
    tables[report.groups[g].baseline].push_back(static_cast<int>(g));
  return tables;
}

}  // namespace

std::string summary(const Frame& frame) {
  const Metrics quantities(frame);
  const std::vector<std::string> spent = costs(quantities, frame.has_vectors()),
                                 gained = worth(quantities);
  ReportRequest request;
  request.metrics = spent;
  request.metrics.insert(request.metrics.end(), gained.begin(), gained.end());
  Report report = make_report(frame, request);
  const std::vector<std::string> names = shortened(report.groups);
  for (std::size_t g = 0; g < names.size(); ++g) report.groups[g].name = names[g];

  const auto row_name = [](const std::string& name) {
    return name.size() <= kLongestName ? name : name.substr(0, kLongestName - 3) + "...";
  };
  std::string text = conclusion(report);
  if (!text.empty()) text = wrapped(text, kWidth);
  for (const auto& [baseline, groups] : tables_of(report)) {
    TextTable cost{{"arm"}, {}}, value{{"arm"}, {}};
    for (const std::string& metric : spent) {
      const Metric& quantity = quantities.find(metric);
      const bool kind = metric.starts_with("nfe_");
      cost.header.push_back(kind ? metric.substr(4) : quantity.title);
      if (metric == "nfe") cost.header.push_back("fewer NFE");
      if (metric == "seconds" && report.times_refused.empty()) cost.header.push_back("speedup");
    }
    for (const std::string& metric : gained) value.header.push_back(quantities.find(metric).title);
    for (const int g : groups) {
      const Report::Group& group = report.groups[g];
      std::vector<std::string> costs{row_name(group.name)}, values{row_name(group.name)};
      for (const std::string& metric : spent) {
        const Metric& quantity = quantities.find(metric);
        costs.push_back(fixed(group.cell(quantity).value.value,
                              metric == "seconds" ? quantity.digits - 1 : quantity.digits));
        if (metric == "nfe") costs.push_back(factor(group, quantity));
        if (metric == "seconds" && report.times_refused.empty())
          costs.push_back(factor(group, quantity));
      }
      for (const std::string& metric : gained) {
        const Metric& quantity = quantities.find(metric);
        values.push_back(fixed(group.cell(quantity).value.value, quantity.digits));
      }
      cost.rows.push_back(std::move(costs));
      value.rows.push_back(std::move(values));
    }
    text += (text.empty() ? "" : "\n") + cost.print(kWidth) + "\n" + value.print(kWidth);
  }
  std::string notes;
  for (const std::string& note : report.notes) notes += note + "\n";
  const std::string found = findings(report);
  return text + (found.empty() ? "" : "\n" + found) + "\n" + wrapped(notes, kWidth);
}

}  // namespace draftlab
