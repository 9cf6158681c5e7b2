// What verified steps accepted, in the words of others: the check values of the methods' fact
// sheet.
#include "analysis/inspect/speculation.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "tests/analysis/traces.h"
#include "tests/scratch.h"

namespace draftlab {
namespace {

using Json = nlohmann::json;

StepRow step(int drafted, int accepted) {
  StepRow row;
  row.verified = 1;
  row.drafted = row.span = drafted;
  row.accepted = accepted;
  row.committed = accepted + 1;
  for (int depth = 0; depth < drafted; ++depth) {
    DraftRow draft;
    draft.depth = depth;
    row.drafts.push_back(draft);
  }
  return row;
}

// Steps that accepted 0, 1, 2, 3 of three drafts.
Speculation counted(std::initializer_list<int> histogram) {
  Speculation sums;
  for (int accepted = 0; const int times : histogram) {
    for (int i = 0; i < times; ++i) sums.add(step(3, accepted));
    ++accepted;
  }
  return sums;
}

TEST_CASE("vLLM's example: 43 steps of three drafts, of which 39, 1, 0 and 3 accepted 0 to 3") {
  const Speculation sums = counted({39, 1, 0, 3});
  CHECK(sums.accepted_by_step == std::vector<std::int64_t>{39, 1, 0, 3});
  CHECK(sums.steps() == 43);
  CHECK(sums.accepted() == 10);
  CHECK(sums.drafted == 129);
  CHECK(sums.mean_length() == doctest::Approx(1.232558140).epsilon(1e-9));
  CHECK(sums.rate() == doctest::Approx(.077519380).epsilon(1e-8));
  const std::vector<double> marginals = sums.marginals(), conditionals = sums.conditionals();
  REQUIRE(marginals.size() == 3);
  CHECK(marginals[0] == doctest::Approx(.093023256).epsilon(1e-8));
  CHECK(marginals[1] == doctest::Approx(.069767442).epsilon(1e-8));
  CHECK(marginals[2] == doctest::Approx(.069767442).epsilon(1e-8));
  CHECK(conditionals[0] == doctest::Approx(.093023256).epsilon(1e-8));
  CHECK(conditionals[1] == doctest::Approx(.75));
  CHECK(conditionals[2] == doctest::Approx(1));
}

TEST_CASE("depths that nothing reached are dense zeros; what was not verified does not count") {
  const Speculation sums = counted({3, 1});
  CHECK(sums.marginals() == std::vector<double>{.25, 0, 0});
  CHECK(sums.conditionals() == std::vector<double>{.25, 0, 0});
  Speculation none;
  StepRow unverified = step(3, 0);
  unverified.verified = 0;
  none.add(unverified);
  CHECK(none.steps() == 0);
  CHECK(none.mean_length() == 0);
  CHECK(none.marginals().empty());
}

TEST_CASE("drafts behind the span were not judged, and siblings are as deep as each other") {
  Speculation sums;
  StepRow tree = step(4, 1);
  tree.span = 2;
  tree.drafts[3].depth = 1;
  sums.add(tree);
  CHECK(sums.drafted == 3);
  CHECK(sums.deepest() == 2);
}

Json read_json(const std::string& path) {
  std::ifstream in(path);
  return Json::parse(in);
}

std::string folder(const std::string& name) {
  const std::string path = testing::scratch(name);
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

TEST_CASE("profiles and requests of a trace") {
  const std::string out = folder("speculation");
  const MadeArm drafts{
      .id = "a",
      .label = "drafts",
      .config =
          "drafter = model\nmodel.draft = table\nverifier = chain\n[model.draft]\ncheckpoint = "
          "/home/someone/models/small\n[decode]\ntemperature = 1\n"},
      never{.id = "b", .label = "never", .config = "drafter = self\n", .verified = false};
  write_arms(out + "/trace.h5", {drafts, never}, {.prompts = 2});
  const std::vector<WrittenProfile> written = export_profiles(out + "/trace.h5", out);
  REQUIRE(written.size() == 2);
  CHECK(written[0].stub.empty());
  CHECK(written[1].stub == "no step was verified");
  const Json profile = read_json(written[0].path);
  CHECK(profile["schema_version"] == "1.0");
  CHECK(profile["measured"] == true);
  CHECK(profile["method"] == "draft_model");
  CHECK(profile["draft_checkpoint"] == "models/small");
  CHECK(profile["num_speculative_tokens"] == 4);
  CHECK(profile["verification_method"] == "longest_prefix");
  CHECK(profile["marginal_accept_rates"] == Json({1, 1, 0, 0}));
  CHECK(profile["mean_accept_length"] == 3);
  CHECK(profile["accept_length_model"] == "chain_analytic");
  CHECK(profile["accept_length_by_k"] == Json({{"1", 2}, {"2", 3}, {"3", 3}, {"4", 3}}));
  // The keys count the replacement: two accepted drafts are a length of 3.
  CHECK(profile["acceptance_length_histogram"] ==
        Json({{"1", 0}, {"2", 0}, {"3", 8}, {"4", 0}, {"5", 0}}));
  CHECK(profile["validation"]["mean_consistency"] == true);
  CHECK(profile["validation"]["marginal_monotonicity"] == true);
  const Json stub = read_json(written[1].path);
  CHECK(stub["measured"] == false);
  CHECK_FALSE(stub.contains("marginal_accept_rates"));

  CHECK(export_requests(out + "/trace.h5", out + "/requests.jsonl") == 4);
  std::ifstream in(out + "/requests.jsonl");
  std::string line;
  REQUIRE(std::getline(in, line));
  const Json metrics = Json::parse(line)["metrics"]["speculative_decoding"];
  CHECK(metrics["mean_acceptance_length"] == 3);
  CHECK(metrics["draft_acceptance_rate"] == .5);
  CHECK(metrics["acceptance_histogram"] == Json({0, 0, 4, 0, 0}));
  CHECK(metrics["num_spec_steps"] == 4);
  CHECK(metrics["num_accepted_draft_tokens"] == 8);
  CHECK(metrics["num_draft_tokens"] == 16);
  CHECK(metrics["num_spec_tokens"] == 4);
}

}  // namespace
}  // namespace draftlab
