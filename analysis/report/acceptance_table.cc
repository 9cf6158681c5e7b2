#include "analysis/report/acceptance_table.h"

#include <algorithm>
#include <map>
#include <vector>

#include "analysis/report/grouping.h"
#include "core/base/error.h"
#include "core/base/table.h"

namespace draftlab {

Dialect dialect_of(const std::string& name) {
  const std::map<std::string, Dialect> dialects = {{"own", Dialect::own},
                                                   {"vllm", Dialect::vllm},
                                                   {"spec-bench", Dialect::spec_bench},
                                                   {"sglang", Dialect::sglang}};
  const auto found = dialects.find(name);
  if (found == dialects.end())
    throw UsageError("--dialect {} must be vllm, spec-bench, sglang or own", name);
  return found->second;
}

std::string acceptance_table(const Frame& frame, const ReportRequest& request, Dialect dialect) {
  const Metrics quantities(frame);
  const Grouping grouping(frame, request.by);
  const Pairing pairing(frame, grouping);
  TextTable table{{"arm"}, {}};
  std::vector<std::vector<Term>> rows;
  for (std::size_t g = 0; g < grouping.groups.size(); ++g) {
    const std::vector<char> wanted = pairing.wanted(static_cast<int>(g));
    AcceptanceSums sums;
    for (const std::int64_t i : pairing.members(static_cast<int>(g)))
      sums.add(quantities.samples().acceptance()[i]);
    rows.push_back(acceptance_terms(sums,
                                    dialect == Dialect::own || dialect == Dialect::vllm
                                        ? quantities.samples().by_depth(wanted)
                                        : std::vector<AtDepth>{},
                                    dialect));
  }
  const auto longest = std::max_element(
      rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  std::string definitions;
  for (const Term& term : *longest) {
    table.header.push_back(term.name);
    definitions += "  " + term.name + ": " + term.definition + "\n";
  }
  for (std::size_t g = 0; g < rows.size(); ++g) {
    std::vector<std::string> row{grouping.groups[g].name};
    for (std::size_t t = 0; t < longest->size(); ++t)
      row.push_back(t < rows[g].size() ? fixed(rows[g][t].value, 3) : "-");
    table.rows.push_back(std::move(row));
  }
  return table.print() + "\n" + definitions;
}

}  // namespace draftlab
