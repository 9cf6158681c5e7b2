#include "analysis/inspect/export_decisions.h"

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "tests/analysis/traces.h"

namespace draftlab {
namespace {

std::vector<nlohmann::json> decisions(const std::string& path) {
  std::ifstream in(path);
  std::vector<nlohmann::json> result;
  for (std::string line; std::getline(in, line);) result.push_back(nlohmann::json::parse(line));
  return result;
}

}  // namespace

TEST_CASE("a trace's decisions, as a log that an audit reads") {
  const TraceFolder folder("decisions");
  const std::vector<MadeArm> arms = {
      {.id = "aaaaaaaaaaaa",
       .config = "verifier = chain\n",
       .steps = 3,
       .drafted = 4,
       .accepted = 2,
       .ratio_test = true},
      {.id = "bbbbbbbbbbbb", .config = "verifier = block\n", .steps = 2, .accepted = 4},
      {.id = "cccccccccccc", .steps = 5, .verified = false}};
  write_arms(folder / "a.h5", arms, {.prompts = 2});
  const ExportedDecisions done = export_decisions(folder / "a.h5", folder / "a.jsonl");
  CHECK(done.written == 2 * (3 + 2));  // Unverified steps decide nothing.
  CHECK(done.left_out == 0);
  const std::vector<nlohmann::json> lines = decisions(folder / "a.jsonl");
  REQUIRE(lines.size() == 10);
  int ratio = 0;
  for (const nlohmann::json& line : lines) {
    const std::size_t accepted = line["accepted"];
    CHECK(line["drafts"].size() == 4);
    CHECK(line["q"] == nlohmann::json({0.5, 0.5, 0.5, 0.5}));
    CHECK(line["p"][0] == 0.25);
    CHECK(line["accept"][1] == 0.5);
    if (line["rule"] != "ratio") {
      CHECK(line["rule"] == "other");
      CHECK(accepted == 4);
      continue;
    }
    ++ratio;
    CHECK(accepted == 2);
    CHECK(line["tokens"].size() <= accepted + 1);
  }
  CHECK(ratio == 6);
  CHECK_THROWS_AS(export_decisions(folder / "none.h5", folder / "x.jsonl"), DataError);
  CHECK_THROWS_AS(export_decisions(folder / "a.h5", folder / "no/such/x.jsonl"), OutputError);
}

}  // namespace draftlab
