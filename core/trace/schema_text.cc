// The schema as text: the tables of docs/TRACE_FORMAT.md, and what every trace says of its columns.
#include <cmath>
#include <map>
#include <sstream>

#include "core/trace/schema.h"

namespace draftlab {
namespace {

std::string range(const ColumnInfo& c) {
  if (!c.flags.empty()) {
    std::string text;
    for (const auto& [value, meaning] : c.flags)
      text += (text.empty() ? "" : ", ") + std::to_string(value) + " " + meaning;
    return text;
  }
  auto number = [](double x) {
    std::ostringstream out;
    out << x;
    return out.str();
  };
  if (std::isfinite(c.low) && std::isfinite(c.high))
    return "[" + number(c.low) + ", " + number(c.high) + "]";
  if (std::isfinite(c.low)) return ">= " + number(c.low);
  return "";
}

std::string meaning(const ColumnInfo& c) {
  std::string text = c.doc;
  if (c.role == Role::count) text += "; `sample_dimension` is `" + std::string(name(c.other)) + "`";
  if (c.coarse) text += "; 12 bits of mantissa";
  if (c.since > 0) text += "; since 1." + std::to_string(c.since);
  return text;
}

}  // namespace

std::string schema_markdown() {
  std::ostringstream out;
  for (const auto* tables : {&trace_tables(), &sweep_tables(), &curve_tables()}) {
    for (Table table : *tables) {
      out << "### `" << name(table) << "`\n\n" << info(table).doc << "\n\n";
      out << "| column | type | unit | range | meaning |\n|---|---|---|---|---|\n";
      for (const ColumnInfo& c : info(table).columns) {
        out << "| `" << c.name << "` | " << name(c.type) << " | " << c.unit << " | " << range(c)
            << " | " << meaning(c) << " |\n";
      }
      if (table == Table::sample)
        out << "| `" << named_prefix(table)
            << "NAME` | float64 | 1 |  | the task's score NAME; as many as the task has |\n";
      if (table == Table::step)
        out << "| `" << named_prefix(table)
            << "NAME` | float64 | 1 |  | accepted prefix that the attached estimator NAME "
               "expected; as many as the config attaches |\n";
      if (table == Table::token)
        out << "| `" << named_prefix(table)
            << "N` | float32 | 1 |  | coordinate N of a vector token, from 0; none where tokens "
               "are ids; since 1.3 |\n";
      if (table == Table::draft)
        out << "| `" << named_prefix(table) << "idN`, `" << named_prefix(table)
            << "pN` | float64 | 1 |  | the N-th most probable token of the drafter's raw "
               "distribution, and its probability; N = 1 to trace.top_k |\n";
      out << "\n";
    }
  }
  out << "### Attributes of the root\n\n| attribute | type | meaning |\n|---|---|---|\n";
  Provenance sample;
  for (const Attribute& a : attributes()) {
    const Field field = a.field(sample);
    out << "| `" << a.name << "` | "
        << (std::holds_alternative<std::string*>(field) ? "text" : "int64") << " | " << a.doc
        << " |\n";
  }
  return out.str();
}

const std::string& schema_text(const std::vector<Table>& tables) {
  // The texts are kept, because a sweep writes them a thousand times.
  static thread_local std::map<std::vector<Table>, std::string> known;
  std::string& text = known[tables];
  if (!text.empty()) return text;
  std::ostringstream out;
  for (Table table : tables) {
    for (const ColumnInfo& c : info(table).columns) {
      out << c.name << "\t" << name(c.type) << "\t" << c.unit << "\t" << range(c) << "\t"
          << meaning(c) << "\n";
    }
  }
  return text = out.str();
}

}  // namespace draftlab
