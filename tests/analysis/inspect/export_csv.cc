#include "analysis/inspect/export_csv.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "core/base/documents.h"
#include "core/base/error.h"
#include "tests/core/trace/trace_fixture.h"

namespace draftlab {
namespace {

std::vector<std::string> lines(const std::string& path) {
  std::ifstream in(path);
  std::vector<std::string> result;
  for (std::string line; std::getline(in, line);) result.push_back(line);
  return result;
}

}  // namespace

TEST_CASE("a trace as text files") {
  const TraceFolder folder("csv");
  write_made(folder / "a.h5", 6);
  CHECK(export_csv(folder / "a.h5", folder / "out").size() >= 5);
  CHECK(lines(folder / "out/sample.csv").size() == 7);
  CHECK(lines(folder / "out/step.csv").size() == 25);
  CHECK(lines(folder / "out/draft.csv").size() == 73);
  CHECK(lines(folder / "out/run.csv")[1].starts_with(
      "aaaaaaaaaaaa,drafter=stepwise,\"drafter = stepwise"));
  const std::vector<std::string> drafts = lines(folder / "out/draft.csv");
  CHECK(drafts[0] ==
        "step_index,position,depth,id,p,q,accept,accepted,confidence,margin,entropy,renyi2,log_p,"
        "log_q,proposals,capped,limit,shown");
  // Numbers read back as they were.
  const DraftRow made = made_sample(0, 0, 0).steps[0].drafts[2];
  std::vector<std::string> cells;
  std::istringstream row(drafts[3]);
  for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
  CHECK(cells[3] == std::to_string(made.token));
  CHECK(std::stod(cells[5]) == made.q);
  CHECK(cells[6].empty() == std::isnan(made.accept));
  CHECK_THROWS_AS(export_csv(folder / "none.h5", folder / "out"), DataError);
  write_made(folder / "empty.h5", 0);
  export_csv(folder / "empty.h5", folder / "empty");
  CHECK(lines(folder / "empty/token.csv").size() == 1);
}

TEST_CASE("texts of every control character go through CSV and back") {
  const TraceFolder folder("csv");
  std::vector<std::string> texts = {"a\rb", "a\r", "\n", "a,b", "\"", "\t \x7F", "=1+1"};
  for (char c = 1; c < 32; ++c) texts.push_back(std::string("x") + c);
  {
    TraceWriter writer(folder / "a.h5", {{}, made_runs()}, TraceOptions{}, false);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      SampleRow row = made_sample(0, static_cast<int>(i), 0);
      row.text = texts[i];
      writer.sample(std::move(row));
    }
    writer.close();
  }
  export_csv(folder / "a.h5", folder / "out");
  const CsvTable table = read_csv(folder / "out/sample.csv");
  REQUIRE(table.rows.size() == texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i)
    CHECK(table.rows[i][table.column("text")] == texts[i]);
  // Our own reader would read a bare carriage return; others end a line there.
  std::ifstream in(folder / "out/sample.csv", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  CHECK(bytes.find("\"a\rb\"") != std::string::npos);
}

}  // namespace draftlab
