#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "core/trace/schema.h"

namespace draftlab {

TEST_CASE("the format page holds the schema's own tables") {
  std::ifstream file(DRAFTLAB_SOURCE_DIR "/docs/TRACE_FORMAT.md");
  const std::string page((std::istreambuf_iterator<char>(file)), {});
  INFO("paste the output of `draftlab check-trace --schema` into docs/TRACE_FORMAT.md");
  CHECK(page.find(schema_markdown()) != std::string::npos);
  CHECK(page.find("Version " + std::string(kSchemaVersion)) != std::string::npos);
}

TEST_CASE("columns are named by their table, once") {
  std::vector<std::string> names;
  for (const auto* tables : {&trace_tables(), &sweep_tables(), &curve_tables()}) {
    for (Table table : *tables) {
      for (const ColumnInfo& column : info(table).columns) {
        CHECK(column.name.starts_with(std::string(name(table)) + "_"));
        CHECK_FALSE(column.doc.empty());
        CHECK(column.unit.empty() == (column.type == Type::text));
        CHECK(std::count(names.begin(), names.end(), column.name) == 0);
        names.push_back(column.name);
      }
    }
  }
  CHECK(names.size() > 150);
}

TEST_CASE("a file may lack the tables of later versions, and no others") {
  for (const auto* tables : {&trace_tables(), &curve_tables()}) {
    for (const Table table : *tables) {
      const bool first = table == Table::run || table == Table::sample || table == Table::step ||
                         table == Table::token || table == Table::draft || table == Table::curve ||
                         table == Table::validation;
      INFO(name(table));
      CHECK(info(table).optional == !first);
    }
  }
  CHECK(info(Table::cell).optional);  // Only gathered traces have it.
}

TEST_CASE("a column that is named by what it holds says so") {
  CHECK(named_column(Table::sample, "bleu").doc.find("the task's score `bleu`") == 0);
  CHECK(named_column(Table::step, "entropy").doc.find("attached estimator `entropy`") !=
        std::string::npos);
  CHECK(named_column(Table::token, "3").doc.find("coordinate 3") != std::string::npos);
  CHECK(named_column(Table::draft, "p2").doc.find("here p2") != std::string::npos);
}

}  // namespace draftlab
