#include "analysis/page/html.h"

#include "analysis/page/packed_column.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "tests/core/trace/trace_fixture.h"

namespace draftlab {
namespace {

using Json = nlohmann::json;

// Arms that draft 1 to 8 tokens a step, of which the later ones are accepted more rarely; 96
// positions.
SampleRow drafting(int run, int prompt) {
  SampleRow row;
  row.run = run, row.prompt_index = prompt, row.prompt_id = "prompt-" + std::to_string(prompt),
  row.status = "done";
  row.length = 96, row.prompt_tokens = 5,
  row.text = "text of " + std::to_string(prompt) + " by </script> " + std::to_string(run),
  row.reference = "reference";
  const int ahead = run + 1;
  int position = 5;
  for (int s = 0; position < 96; ++s) {
    StepRow step;
    step.step = s, step.masked = 96 - position,
    step.span = step.drafted = std::min(ahead, 96 - position), step.verified = 1;
    step.score = 0.5 * s;
    const int kept = std::min(step.drafted, 1 + (s * 7 + prompt) % ahead);
    for (int i = 0; i < step.drafted; ++i) {
      DraftRow draft;
      draft.position = position + i, draft.depth = i, draft.token = (s * 31 + i * 7 + prompt) % 500,
      draft.q = 0.25, draft.confidence = 0.5;
      draft.accepted = i < kept ? 1 : i == kept ? 0 : -1;
      if (draft.accepted >= 0) draft.p = 0.125, draft.accept = 0.5;
      step.drafts.push_back(draft);
      if (i >= kept) continue;
      TokenRow token;
      token.position = position + i, token.rank = i, token.token = draft.token,
      token.source = static_cast<std::int32_t>(Source::accepted);
      token.p = 0.125, token.q = 0.25, token.confidence = 0.5;
      step.tokens.push_back(token);
    }
    step.accepted = step.committed = kept;
    step.counts[Kind::draft] = {1, 1, 1, 1000}, step.counts[Kind::verify] = {1, 1, ahead, 1000};
    row.counts[Kind::draft].calls += 1, row.counts[Kind::verify].calls += 1;
    row.generated += kept;
    position += kept;
    row.steps.push_back(step);
  }
  row.valid = row.generated;
  row.seconds = 0.01 * static_cast<double>(row.steps.size()),
  row.scores = {{"exact_match", (prompt * 5 + run) % 7 == 0 ? 1.0 : 0.0}};
  return row;
}

void write_drafting(const std::string& path, int prompts, int arms) {
  std::vector<RunRow> runs;
  for (int arm = 0; arm < arms; ++arm) {
    const std::string ahead = std::to_string(arm + 1);
    RunRow& run = runs.emplace_back();
    run.id = "id" + ahead, run.arm = "drafter=self decode.draft_length=" + ahead;
    run.config = "drafter = self\ndecode.draft_length = " + ahead + "\n";
    run.model_family = "table";
  }
  Provenance made;
  made.software = "draftlab test", made.title = "How far ahead?\nSecond line.";
  TraceOptions options;
  options.unit_tokens = 10000000;
  TraceWriter writer(path, {made, runs}, options, false);
  writer.spell_with([](int, Token token) { return "\u2581w" + std::to_string(token); });
  for (int prompt = 0; prompt < prompts; ++prompt)
    for (int arm = 0; arm < arms; ++arm) writer.sample(drafting(arm, prompt));
  writer.close();
}

// What the page carries.
Json data_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(open) + open.size();
  return Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

std::size_t bytes_of(const Json& column) {
  const std::string& text = column["data"].get_ref<const std::string&>();
  return text.size() / 4 * 3 - static_cast<std::size_t>(std::count(text.begin(), text.end(), '='));
}

}  // namespace

TEST_CASE("columns are packed as narrow as they fit") {
  CHECK(pack({1, 255}).type == "u8");
  CHECK(pack({1, 255}).data == "Af8=");
  CHECK(pack({256}).type == "u16");
  CHECK(pack({256}).data == "AAE=");
  CHECK(pack({70000}).type == "u32");
  CHECK(pack({70000}).data == "cBEBAA==");
  CHECK(pack({}).data.empty());
}

TEST_CASE("probabilities lie on a logarithmic scale") {
  CHECK(probability_code(1) == 0);
  CHECK(probability_code(std::exp(-1)) == 3000);
  CHECK(probability_code(0.5) == 2079);  // The code is 3000 ln 2.
  CHECK(probability_code(1e-30) == 65533);
  CHECK(probability_code(0) == 65534);
  CHECK(probability_code(kNotMeasured) == 65535);
}

TEST_CASE("a page holds the table, every step and token, and nothing from outside") {
  const TraceFolder folder("page");
  write_drafting(folder / "a.h5", 3, 2);
  const Frame frame({folder / "a.h5"});
  const std::string page = html_page(frame, make_report(frame, {}));
  const Json data = data_of(page);
  CHECK(data["title"] == "How far ahead?");
  CHECK(data["about"] == "Second line.");
  CHECK(data["keys"] == Json({"drafter", "decode.draft_length"}));
  CHECK(data["arms"][1]["keys"] == Json({"self", "2"}));
  std::map<std::string, std::size_t> metric;
  for (std::size_t m = 0; m < data["metrics"].size(); ++m) metric[data["metrics"][m]["name"]] = m;
  std::size_t steps = 0, tokens = 0;
  std::vector<double> nfe(2, 0);
  for (int prompt = 0; prompt < 3; ++prompt) {
    for (int run = 0; run < 2; ++run) {
      const SampleRow row = drafting(run, prompt);
      steps += row.steps.size(), tokens += static_cast<std::size_t>(row.generated);
      nfe[run] += static_cast<double>(row.counts.nfe());
    }
  }
  CHECK(data["arms"][1]["values"][metric.at("NFE")]["value"].get<double>() ==
        doctest::Approx(nfe[1] / 3));
  CHECK(data["arms"][1]["values"][metric.at("fewer NFE")]["value"].get<double>() ==
        doctest::Approx(nfe[0] / nfe[1]));
  CHECK(bytes_of(data["columns"]["sample_arm"]) == 6);
  CHECK(bytes_of(data["columns"]["step_stop"]) == steps);
  CHECK(bytes_of(data["columns"]["step_score"]) == 4 * steps);
  CHECK(bytes_of(data["columns"]["token_source"]) == tokens);
  CHECK(bytes_of(data["columns"]["token_p"]) == 2 * tokens);
  CHECK(data["pieces"][0] == "\u2581w0");  // Prompt 0, step 0.
  CHECK(data["ids"][0] == 0);
  CHECK(data["texts"][0] == "text of 0 by </script> 0");
  CHECK(page.find("by </script>") == std::string::npos);  // This would end the data.
  CHECK(page.find("{{") == std::string::npos);
  for (const char* outside : {"https://", "src=", "@import", "url("})
    CHECK(page.find(outside) == std::string::npos);
  const std::size_t script = page.rfind("<script>");
  CHECK(page.size() - script < 50000);
}

TEST_CASE("a page shows as many prompts as it was asked for, and says so") {
  const TraceFolder folder("page");
  write_drafting(folder / "a.h5", 4, 2);
  const Frame frame({folder / "a.h5"});
  const Json data = data_of(html_page(frame, make_report(frame, {}), {.prompts = 2}));
  CHECK(data["prompts"] == Json({"prompt-0", "prompt-1"}));
  CHECK(bytes_of(data["columns"]["sample_arm"]) == 4);
  CHECK(data["caption"].get<std::string>().find("the first 2 of 4 prompts") != std::string::npos);
}

TEST_CASE("the first finding is how many function evaluations an arm saves") {
  const TraceFolder folder("page");
  write_drafting(folder / "few.h5", 4, 3);
  write_drafting(folder / "many.h5", 4, 12);
  const auto savings = [](const std::string& path, const std::string& baseline) {
    const Frame frame({path});
    std::vector<std::string> said;
    const Json data = data_of(html_page(frame, make_report(frame, {.baseline = baseline})));
    for (const Json& one : data["findings"])
      if (one["sentence"].get<std::string>().find("evaluations") != std::string::npos)
        said.push_back(one["sentence"]);
    return said;
  };
  const std::vector<std::string> fewer = savings(folder / "few.h5", "decode.draft_length=1");
  REQUIRE(fewer.size() == 2);
  CHECK(fewer[0].find(" times fewer function evaluations [1.") != std::string::npos);
  const std::vector<std::string> more = savings(folder / "few.h5", "decode.draft_length=3");
  REQUIRE(more.size() == 2);
  CHECK(more[0].find(" times more function evaluations [") != std::string::npos);
  // Of many arms, the one that saves most.
  const std::vector<std::string> most = savings(folder / "many.h5", "decode.draft_length=1");
  REQUIRE(most.size() == 1);
  CHECK(most[0].ends_with("], the fewest of all."));
}

// Not a test of its own: the page that tests/analysis/browser.py opens.
TEST_SUITE("page") {
  TEST_CASE("200 prompts by 8 arms") {
    const char* path = std::getenv("DRAFTLAB_PAGE");
    if (!path) return;
    const TraceFolder folder("page");
    write_drafting(folder / "a.h5", 200, 8);
    const Frame frame({folder / "a.h5"});
    const std::string page = html_page(frame, make_report(frame, {}));
    CHECK(page.size() < 8000000);
    write_whole(path, page);
  }
}

}  // namespace draftlab
