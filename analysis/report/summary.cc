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

// Breaks lines at blanks, so that none is longer than the table; what follows is indented below
// an indented line.
std::string wrapped(const std::string& text) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    const std::string indent(line.starts_with(' ') ? line.find_first_not_of(' ') + 2 : 0, ' ');
    while (line.size() > kWidth) {
      std::size_t blank = line.rfind(' ', kWidth);
      if (blank == std::string::npos || blank < indent.size()) break;
      result += line.substr(0, blank) + "\n";
      line = indent + line.substr(blank + 1);
    }
    result += line + "\n";
    begin = end + 1;
  }
  return result;
}

const std::vector<std::string> kKinds = {"prefill", "draft", "verify", "commit", "aux"};

// The columns of the first table and of the second: what was spent, and what came of it.
std::vector<std::string> costs(const Metrics& quantities) {
  std::vector<std::string> metrics;
  for (const std::string& kind : kKinds) {
    const bool always = kind == "draft" || kind == "verify";
    if (always || quantities.spent("nfe_" + kind)) metrics.push_back("nfe_" + kind);
  }
  metrics.insert(metrics.end(), {"nfe", "tokens_per_forward", "tokens_per_step"});
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
  const std::vector<std::string> spent = costs(quantities), gained = worth(quantities);
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
  if (!text.empty()) text = wrapped(text);
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
  std::string findings;
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    const Report::Finding& finding = report.findings[i];
    if (i == 0 || report.findings[i - 1].group != finding.group)
      findings += report.pair(finding.group) + ":\n";
    findings += "  " + finding.sentence + "\n";
  }
  std::string notes;
  for (const std::string& note : report.notes) notes += note + "\n";
  return text + (findings.empty() ? "" : "\n" + wrapped(findings)) + "\n" + wrapped(notes);
}

}  // namespace draftlab
