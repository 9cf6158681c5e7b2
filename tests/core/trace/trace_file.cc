#include "core/trace/trace_file.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "core/base/error.h"
#include "core/base/words.h"
#include "tests/core/trace/trace_fixture.h"

namespace draftlab {
namespace {

Provenance made_provenance() {
  Provenance made;
  made.software = "draftlab test";
  made.config = "model = table\n";
  made.threads = 2;
  made.seed = 7;
  return made;
}

TraceOptions units_of(std::int64_t tokens) {
  TraceOptions options;
  options.unit_tokens = tokens;
  return options;
}

// Prompts 0 to 4 by two runs (or so many samples), once in the order of the table and once
// backwards.
void write(const std::string& path, bool backwards, std::int64_t unit_tokens, int samples = 10,
           int steps = 4) {
  TraceWriter writer(path, {made_provenance(), made_runs()}, units_of(unit_tokens), false);
  for (int i = 0; i < samples; ++i) {
    const int at = backwards ? samples - 1 - i : i;
    writer.sample(made_sample(at % 2, at / 2, 0, steps));
  }
  writer.close();
}

std::string message(const std::function<void()>& act, int status) {
  try {
    act();
  } catch (const Error& error) {
    CHECK(error.status() == status);
    return error.what();
  }
  FAIL("nothing was thrown");
  return "";
}

// The trace of a sweep's cell: one run, some prompts.
void write_cell(const std::string& path, int run, int prompts) {
  RunRow row = made_runs()[static_cast<std::size_t>(run)];
  row.arm = "";
  TraceWriter writer(path, {made_provenance(), {row}}, units_of(1000000), true);
  for (int prompt = 0; prompt < prompts; ++prompt) {
    if (writer.finished(0, prompt, 0)) continue;
    SampleRow sample = made_sample(run, prompt, 0);
    sample.run = 0;
    writer.sample(std::move(sample));
  }
  writer.close();
}

}  // namespace

TEST_CASE("vectors, their log densities and proposals come back, beside ids that have none") {
  const TraceFolder folder("vectors");
  {
    TraceWriter writer(folder / "a.h5", {made_provenance(), made_runs()}, units_of(1),
                       false);  // Units of one sample each are merged.
    for (int i = 0; i < 4; ++i) {
      SampleRow sample = made_sample(i % 2, i / 2, 0);
      StepRow& step = sample.steps[1];
      if (i % 2 == 1) {
        for (TokenRow& token : step.tokens) token.value = Eigen::VectorXd::LinSpaced(12, i, i + 11);
        step.drafts[0].log_p = -3.5, step.drafts[0].log_q = 40, step.drafts[0].proposals = 7,
        step.drafts[0].capped = 1;
      }
      writer.sample(std::move(sample));
    }
    writer.close();
  }
  const std::vector<SampleRow> rows = Trace(folder / "a.h5").read();
  for (int i = 0; i < 4; ++i) {
    const StepRow& step = rows[i].steps[1];
    CHECK(step.tokens[0].value.size() == (i % 2 == 1 ? 12 : 0));
    CHECK(rows[i].steps[0].tokens[0].value.size() == 0);
    if (i % 2 == 0) {
      CHECK(std::isnan(step.drafts[0].log_p));
      CHECK(step.drafts[0].capped == 0);
      continue;
    }
    CHECK(step.tokens.back().value ==
          Eigen::VectorXd::LinSpaced(12, i, i + 11));  // Coordinate 10 is no neighbour of 1.
    CHECK(step.drafts[0].log_p == -3.5);
    CHECK(step.drafts[0].log_q == 40);
    CHECK(step.drafts[0].proposals == 7);
    CHECK(step.drafts[0].capped == 1);
    CHECK(std::isnan(step.drafts[1].log_p));
  }
}

TEST_CASE("a trace comes back as it was written") {
  const TraceFolder folder("trace");
  write(folder / "a.h5", false, 1000000);
  const Trace trace(folder / "a.h5");
  CHECK(trace.samples() == 10);
  CHECK(trace.rows(Table::step) == 40);
  CHECK(trace.rows(Table::draft) == 120);
  CHECK(trace.provenance().seed == 7);
  CHECK(trace.provenance().config == "model = table\n");
  CHECK(trace.provenance().ended.size() == 20);
  REQUIRE(trace.runs().size() == 2);
  CHECK(trace.runs()[1].arm == "drafter=self");
  CHECK(trace.runs()[1].config == "drafter = self\n");
  for (int i = 0; i < 10; ++i)
    CHECK(differs_in(trace.sample(i), made_sample(i % 2, i / 2, 0)) == "");
  const std::vector<SampleRow> some = trace.read(3, 4);
  for (int i = 0; i < 4; ++i)
    CHECK(differs_in(some[i], made_sample((i + 3) % 2, (i + 3) / 2, 0)) == "");
  CHECK(trace.read(0, 2, false)[1].steps.empty());
  CHECK(message([&] { trace.sample(10); }, 65).find("samples 0 to 9") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "a.h5.units"));
}

TEST_CASE("the likeliest tokens of a draft are columns by rank") {
  const TraceFolder folder("top");
  TraceWriter writer(folder / "a.h5", {made_provenance(), made_runs()}, units_of(1),
                     false);  // Units of one sample each are merged.
  for (int i = 0; i < 2; ++i) {
    SampleRow row = made_sample(0, i, 0);
    if (i == 0) row.steps[0].drafts[1].top = {{4, .5}, {2, .25}};
    writer.sample(std::move(row));
  }
  writer.close();
  const Trace trace(folder / "a.h5");
  const SampleRow first = trace.sample(0);
  REQUIRE(first.steps[0].drafts[1].top.size() == 2);
  CHECK(first.steps[0].drafts[1].top[0] == std::pair<Token, double>(4, .5));
  CHECK(first.steps[0].drafts[1].top[1] == std::pair<Token, double>(2, .25));
  CHECK(first.steps[0].drafts[0].top.empty());
  CHECK(trace.sample(1).steps[0].drafts[1].top.empty());
}

TEST_CASE("a trace carries the text of the tokens that occur") {
  const TraceFolder folder("trace");
  auto write_spelled = [&](const std::string& path, std::int64_t unit_tokens) {
    TraceWriter writer(path, {made_provenance(), made_runs()}, units_of(unit_tokens), false);
    writer.spell_with([](int run, Token token) {
      return token % 10 == 7 ? "" : std::to_string(run) + ":" + std::to_string(token);
    });
    for (int i = 0; i < 10; ++i) writer.sample(made_sample(i % 2, i / 2, 0));
    writer.close();
  };
  write_spelled(folder / "a.h5", 1000000);
  write_spelled(folder / "b.h5", 10);
  std::set<Token> expected;
  for (int i = 0; i < 10; ++i) {
    for (const StepRow& step : made_sample(i % 2, i / 2, 0).steps) {
      for (const TokenRow& token : step.tokens) expected.insert(token.token);
      for (const DraftRow& draft : step.drafts) expected.insert(draft.token);
    }
  }
  // The text is not known here.
  std::erase_if(expected, [](Token token) { return token % 10 == 7; });
  for (const char* name : {"a.h5", "b.h5"}) {
    const Trace trace(folder / name);
    const Columns pieces = trace.columns(Table::piece, 0, trace.rows(Table::piece));
    REQUIRE(pieces.rows() == static_cast<std::int64_t>(expected.size()));
    auto token = expected.begin();
    for (std::int64_t row = 0; row < pieces.rows(); ++row, ++token) {
      PieceRow piece;
      pieces.get(row, piece);
      CHECK(piece.token == *token);
      CHECK(piece.run == 0);  // Both arms have one checkpoint.
      CHECK(piece.text == "0:" + std::to_string(*token));
    }
  }
}

TEST_CASE("contents depend neither on the order of finishing nor on the size of units") {
  const TraceFolder folder("trace");
  write(folder / "a.h5", false, 1000000);
  write(folder / "b.h5", true, 1);
  write(folder / "c.h5", true, 25);
  write(folder / "d.h5", true, 1000000);  // This is one unit.
  CHECK(differs_in(folder / "a.h5", folder / "b.h5") == "");
  CHECK(differs_in(folder / "a.h5", folder / "c.h5") == "");
  CHECK(differs_in(folder / "a.h5", folder / "d.h5") == "");
}

TEST_CASE("many units, which two processes read, become the trace that one process writes") {
  const TraceFolder folder("trace");
  write(folder / "a.h5", false, 1000000, 40,
        200);  // Some columns have one chunk, some two, and some are plain.
  write(folder / "b.h5", true, 1, 40, 200);
  CHECK(differs_in(folder / "a.h5", folder / "b.h5") == "");
  CHECK(Trace(folder / "b.h5").rows(Table::draft) == 40 * 200 * 3);
}

TEST_CASE("a column that holds one value in most units, and others in some, is merged whole") {
  const TraceFolder folder("trace");
  const auto write_unlike = [&](const std::string& path, std::int64_t unit_tokens) {
    TraceWriter writer(path, {made_provenance(), made_runs()}, units_of(unit_tokens), false);
    for (int prompt = 0; prompt < 40; ++prompt) {
      SampleRow row = made_sample(0, prompt, 0, 200);
      for (StepRow& step : row.steps)
        step.block = prompt == 17 ? step.step : 3, step.score = prompt < 30 ? 0.25 : 0.5;
      writer.sample(std::move(row));
    }
    writer.close();
  };
  write_unlike(folder / "a.h5", 1000000);
  write_unlike(folder / "b.h5", 1);
  CHECK(differs_in(folder / "a.h5", folder / "b.h5") == "");
  const Trace merged(folder / "b.h5");
  CHECK(merged.sample(16).steps[199].block == 3);
  CHECK(merged.sample(17).steps[199].block == 199);
  CHECK(merged.sample(29).steps[0].score == 0.25);
  CHECK(merged.sample(30).steps[0].score == 0.5);
}

TEST_CASE("the first unit is written after a second, and the next one later") {
  const TraceFolder folder("trace");
  TraceWriter writer(folder / "a.h5", {made_provenance(), made_runs()}, units_of(1000000), false);
  const auto units = [&] {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "a.h5.units"))
      count += entry.path().filename().string().starts_with("unit-");
    return count;
  };
  const auto wait = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1100)); };
  writer.sample(made_sample(0, 0, 0, 4));
  CHECK(units() == 0);
  wait();
  writer.sample(made_sample(1, 0, 0, 4));
  CHECK(units() == 1);
  wait();
  writer.sample(made_sample(0, 1, 0, 4));
  CHECK(units() == 1);
  wait();
  writer.sample(made_sample(1, 1, 0, 4));
  CHECK(units() == 2);
}

TEST_CASE("a trace without samples is a trace") {
  const TraceFolder folder("trace");
  TraceWriter(folder / "a.h5", {made_provenance(), made_runs()}, units_of(10), false).close();
  const Trace trace(folder / "a.h5");
  CHECK(trace.samples() == 0);
  CHECK(trace.read().empty());
  CHECK(trace.runs().size() == 2);
}

TEST_CASE("drafts are recorded as asked") {
  const TraceFolder folder("trace");
  for (const auto& [which, rows] :
       {std::pair{RecordedDrafts::none, 0}, {RecordedDrafts::span, 2}, {RecordedDrafts::all, 3}}) {
    TraceOptions options;
    options.drafts = which;
    const std::string name(word(which));
    TraceWriter writer(folder / name, {made_provenance(), made_runs()}, options, false);
    SampleRow row = made_sample(0, 0, 0, 1);
    row.steps[0].span = 2;
    writer.sample(row);
    writer.close();
    const Trace trace(folder / name);
    CHECK(trace.drafts() == name);
    CHECK(trace.rows(Table::draft) == rows);
  }
}

TEST_CASE("a sample that two units hold is merged once") {
  const TraceFolder folder("trace");
  write(folder / "whole.h5", false, 1000000);
  const std::string path = folder / "a.h5";
  {
    TraceWriter writer(path, {made_provenance(), made_runs()}, units_of(1), false);
    for (int i = 0; i < 10; ++i) writer.sample(made_sample(i % 2, i / 2, 0));
  }
  // Two workers that a lock could not keep apart finished the same samples.
  std::vector<std::filesystem::path> units;
  for (const auto& entry : std::filesystem::directory_iterator(path + ".units"))
    if (entry.path().extension() == ".h5") units.push_back(entry.path());
  REQUIRE(units.size() == 10);
  for (std::size_t i = 0; i < units.size(); i += 3)
    std::filesystem::copy_file(
        units[i], path + ".units/unit-00001" + std::to_string(i) + "-elsewhere-1-1.h5");
  TraceWriter writer(path, {made_provenance(), made_runs()}, units_of(1), true);
  CHECK(writer.finished() == 10);
  writer.close();
  CHECK(Trace(path).samples() == 10);
  CHECK(differs_in(path, folder / "whole.h5") == "");
}

TEST_CASE("a run of other data or of another checkpoint is not continued") {
  const TraceFolder folder("trace");
  const std::string path = folder / "a.h5";
  {
    TraceWriter writer(path, {made_provenance(), made_runs()}, units_of(1), false);
    writer.sample(made_sample(0, 0, 0));
  }
  std::vector<RunRow> other = made_runs();
  other[1].data_digest = "d2";
  CHECK(message(
            [&] {
              TraceWriter(path, {made_provenance(), other}, units_of(1), true);
            },
            78)
            .find("its data's digest is 'd1' and that of this config is 'd2'") !=
        std::string::npos);
  other = made_runs();
  other[0].checkpoint_digest = "c2";
  CHECK(message(
            [&] {
              TraceWriter(path, {made_provenance(), other}, units_of(1), true);
            },
            78)
            .find("checkpoint's digest") != std::string::npos);
}

TEST_CASE("a run that goes on on another processor names both") {
  const TraceFolder folder("trace");
  const std::string path = folder / "a.h5";
  Provenance here = made_provenance(), elsewhere = made_provenance();
  here.cpu = "processor A", elsewhere.cpu = "processor B";
  {
    TraceWriter writer(path, {here, made_runs()}, units_of(1), false);
    writer.sample(made_sample(0, 0, 0));
  }
  TraceWriter(path, {here, made_runs()}, units_of(1), true).close();
  CHECK(Trace(path).provenance().cpu == "processor A");
  {
    TraceWriter writer(path, {elsewhere, made_runs()}, units_of(1), true);
    writer.sample(made_sample(1, 0, 0));
    writer.close();
  }
  CHECK(Trace(path).provenance().cpu == "processor B; processor A");
}

TEST_CASE("a damaged unit is put aside, and its samples are decoded again") {
  const TraceFolder folder("trace");
  write(folder / "whole.h5", false, 1000000);
  const std::string path = folder / "a.h5";
  {
    TraceWriter writer(path, {made_provenance(), made_runs()}, units_of(1), false);
    for (int i = 0; i < 4; ++i) writer.sample(made_sample(i % 2, i / 2, 0));
  }
  std::filesystem::path unit;
  for (const auto& entry : std::filesystem::directory_iterator(path + ".units"))
    if (entry.path().extension() == ".h5") unit = entry.path();
  {
    std::fstream file(unit, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(unit) / 2));
    file << "damage";
  }
  {
    TraceWriter writer(path, {made_provenance(), made_runs()}, units_of(1), true);
    CHECK(writer.finished() == 3);
    CHECK(std::filesystem::exists(unit.string() + ".damaged"));
    for (int i = 0; i < 10; ++i)
      if (!writer.finished(i % 2, i / 2, 0)) writer.sample(made_sample(i % 2, i / 2, 0));
    writer.close();
  }
  CHECK(differs_in(path, folder / "whole.h5") == "");
  CHECK_FALSE(std::filesystem::exists(path + ".units"));
}

TEST_CASE("a sample is done when its unit is, and not before") {
  const TraceFolder folder("trace");
  TraceWriter writer(folder / "a.h5", {made_provenance(), made_runs()}, units_of(1000000), false);
  writer.sample(made_sample(0, 0, 0));
  CHECK(writer.finished() == 0);
  writer.flush();
  CHECK(writer.finished() == 1);
  CHECK(writer.finished(0, 0, 0));
  CHECK_FALSE(writer.finished(1, 0, 0));
  writer.close();
}

TEST_CASE("a run that ends early is resumed to the same contents") {
  const TraceFolder folder("trace");
  write(folder / "whole.h5", false, 1000000);
  const std::string path = folder / "a.h5";
  {
    TraceWriter writer(path, {made_provenance(), made_runs()}, units_of(1), false);
    for (int i : {7, 2, 4}) writer.sample(made_sample(i % 2, i / 2, 0));
  }
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK(message(
            [&] {
              TraceWriter(path, {made_provenance(), made_runs()}, units_of(1), false);
            },
            73)
            .find("--resume") != std::string::npos);
  const std::string leftover =
      path + ".units/unit-000009.h5." + tag_of_the_dead() + "-0" + std::string(kPartial);
  std::ofstream(leftover) << "half";
  {
    TraceWriter writer(path, {made_provenance(), made_runs()}, units_of(15), true);
    CHECK_FALSE(std::filesystem::exists(leftover));
    CHECK(writer.finished() == 3);
    CHECK(writer.finished(1, 3, 0));
    for (int i = 0; i < 10; ++i) {
      if (!writer.finished(i % 2, i / 2, 0)) writer.sample(made_sample(i % 2, i / 2, 0));
    }
    writer.close();
  }
  CHECK(differs_in(path, folder / "whole.h5") == "");
  TraceWriter again(path, {made_provenance(), made_runs()}, units_of(15), true);
  CHECK(again.finished() == 10);
  again.close();
  CHECK(differs_in(path, folder / "whole.h5") == "");
  CHECK_FALSE(std::filesystem::exists(path + ".units"));
}

TEST_CASE("what a run had decoded when it broke off is kept, though it was no unit yet") {
  const TraceFolder folder("trace");
  const std::string path = folder / "a.h5";
  {
    TraceWriter writer(path, {made_provenance(), made_runs()}, units_of(1000000), false);
    writer.sample(made_sample(0, 0, 0));
  }
  const TraceWriter writer(path, {made_provenance(), made_runs()}, units_of(1000000), true);
  CHECK(writer.finished() == 1);
}

TEST_CASE("the units of a run that is resumed are numbered on") {
  const TraceFolder folder("trace");
  for (int prompt : {0, 1, 2}) {
    TraceWriter writer(folder / "a.h5", {made_provenance(), made_runs()}, units_of(1), prompt > 0);
    writer.sample(made_sample(0, prompt, 0));
  }
  std::set<std::string> units;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "a.h5.units"))
    if (const std::string file = entry.path().filename().string(); file.starts_with("unit-"))
      units.insert(file.substr(0, 11));
  CHECK(units == std::set<std::string>{"unit-000000", "unit-000001", "unit-000002"});
}

TEST_CASE("a trace was begun when the first of its processes began") {
  const TraceFolder folder("trace");
  const auto write_part = [](const std::string& path, const std::string& started, bool resume) {
    Provenance made = made_provenance();
    made.started = started;
    TraceWriter writer(path, {made, made_runs()}, units_of(1), resume);
    writer.sample(made_sample(0, resume ? 1 : 0, 0));
    if (resume) writer.close();
  };
  const std::string early = "2026-01-01T00:00:00Z", late = "2026-01-02T00:00:00Z";
  write_part(folder / "a.h5", early, false);
  write_part(folder / "a.h5", late, true);
  CHECK(Trace(folder / "a.h5").provenance().started == early);
  // The clocks of two machines need not agree.
  write_part(folder / "b.h5", late, false);
  write_part(folder / "b.h5", early, true);
  CHECK(Trace(folder / "b.h5").provenance().started == early);
}

TEST_CASE("a finished trace grows when more is asked for") {
  const TraceFolder folder("trace");
  const std::string path = folder / "a.h5";
  write(folder / "whole.h5", false, 1000000);
  for (int upto : {4, 10}) {
    TraceWriter writer(path, {made_provenance(), made_runs()}, units_of(20), true);
    for (int i = 0; i < upto; ++i) {
      if (!writer.finished(i % 2, i / 2, 0)) writer.sample(made_sample(i % 2, i / 2, 0));
    }
    writer.close();
  }
  CHECK(differs_in(path, folder / "whole.h5") == "");
}

TEST_CASE("a resume by another config is refused") {
  const TraceFolder folder("trace");
  {
    TraceWriter(folder / "a.h5", {made_provenance(), made_runs()}, units_of(1), false)
        .sample(made_sample(0, 0, 0));
  }
  std::vector<RunRow> other = made_runs();
  other[1].id = "cccccccccccc";
  const auto said = [&] {
    return message(
        [&] {
          TraceWriter(folder / "a.h5", {made_provenance(), other}, units_of(1), true);
        },
        78);
  };
  CHECK(said().find("run is 'bbbbbbbbbbbb' and that of this config is 'cccccccccccc'") !=
        std::string::npos);
  other[1].config += "\n[decode]\nthreshold = 0.5\n";
  CHECK(said().find("decode.threshold is '' and that of this config is '0.5'") !=
        std::string::npos);
}

TEST_CASE("a resume finds a checkpoint and data that were moved by their digests") {
  const auto runs_at = [](const std::string& folder, const std::string& digest) {
    std::vector<RunRow> runs = made_runs();
    for (RunRow& run : runs) {
      run.checkpoint = folder + "model", run.checkpoint_digest = digest;
      run.config += "\n[model.table]\ncheckpoint = " + run.checkpoint +
                    "\n\n[task.stories]\nfile = " + folder + "stories.jsonl\n";
      run.id = id_of(run.config);
    }
    return runs;
  };
  const TraceFolder folder("trace");
  const std::string path = folder / "a.h5";
  {
    TraceWriter(path, {made_provenance(), runs_at("data/", "d9")}, units_of(1), false)
        .sample(made_sample(0, 0, 0));
  }
  const auto said = [&](const std::vector<RunRow>& runs) {
    return message([&] { TraceWriter(path, {made_provenance(), runs}, units_of(1), true); }, 78);
  };
  CHECK(said(runs_at("/moved/data/", "other")).find("checkpoint's digest") != std::string::npos);
  std::vector<RunRow> other = runs_at("/moved/data/", "d9");
  other[1].config += "name = other\n", other[1].id = "cccccccccccc";
  CHECK(said(other).find("task.stories.name is ''") != std::string::npos);
  other = runs_at("/moved/data/", "d9");
  for (RunRow& run : other) run.checkpoint = "", run.checkpoint_digest = "";
  CHECK(said(other).find("model.table.checkpoint is 'data/model'") != std::string::npos);
  // Without a digest nothing says that a checkpoint of another path is the same.
  const auto undigested = [&](const std::string& from, bool resume) {
    TraceWriter(folder / "b.h5", {made_provenance(), runs_at(from, "")}, units_of(1), resume)
        .sample(made_sample(0, 0, 0));
  };
  undigested("data/", false);
  CHECK(message([&] { undigested("/moved/data/", true); }, 78)
            .find("model.table.checkpoint is 'data/model'") != std::string::npos);
  TraceWriter writer(path, {made_provenance(), runs_at("/moved/data/", "d9")}, units_of(1), true);
  CHECK(writer.finished() == 1);
  writer.sample(made_sample(1, 0, 0));
  writer.close();
  CHECK(Trace(path).runs()[0].checkpoint == "/moved/data/model");
}

TEST_CASE("a resume with another tokenizer is refused") {
  const TraceFolder folder("trace");
  std::vector<RunRow> runs = made_runs();
  for (RunRow& run : runs) run.tokenizer_digest = "aaaa";
  {
    TraceWriter(folder / "a.h5", {made_provenance(), runs}, units_of(1), false)
        .sample(made_sample(0, 0, 0));
  }
  runs[0].tokenizer_digest = "bbbb";
  CHECK(message(
            [&] {
              TraceWriter(folder / "a.h5", {made_provenance(), runs}, units_of(1), true);
            },
            78)
            .find("tokenizer's digest is 'aaaa' and that of this config is 'bbbb'") !=
        std::string::npos);
}

TEST_CASE("what cannot be written is refused in one sentence, and nothing is left") {
  const TraceFolder folder("trace");
  auto open = [&](const std::string& path) {
    TraceWriter(path, {made_provenance(), made_runs()}, units_of(1), false);
  };
  CHECK(message([&] { open(folder.path); }, 73).find("is a folder") != std::string::npos);
  std::ofstream(folder / "file") << "x";
  CHECK(message([&] { open(folder / "file"); }, 73).find("exists") != std::string::npos);
  message([&] { open(folder / "file/a.h5"); }, 73);
  TraceWriter first(folder / "a.h5", {made_provenance(), made_runs()}, units_of(1), false);
  CHECK(message([&] { open(folder / "a.h5"); }, 73).find("another process") != std::string::npos);
}

// A limit on the size of files fails writes as a full disk does.
TEST_CASE("a full disk leaves no file behind") {
  const TraceFolder folder("trace");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  std::string said;
  {
    TraceWriter writer(folder / "a.h5", {made_provenance(), made_runs()}, units_of(1000000), false);
    writer.sample(made_sample(0, 0, 0));
    const rlimit small{4096, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    said = message([&] { writer.close(); }, 73);
  }
  setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  CHECK(said.find("a.h5': File too large") != std::string::npos);
  CHECK(std::filesystem::is_empty(folder.path));
}

TEST_CASE("text that is not UTF-8 is made so") {
  CHECK(valid_utf8("gr\xC3\xBC\xC3\x9F") == "gr\xC3\xBC\xC3\x9F");
  CHECK(valid_utf8(std::string("a\xFF\0b", 4)) ==
        "a\xEF\xBF\xBD\xEF\xBF\xBD"
        "b");
  // A surrogate, and characters that are spelt longer than they need be.
  for (const char* wrong : {"\xED\xA0\x80", "\xE0\x9F\xBF", "\xE0\x80\x80"})
    CHECK(valid_utf8(wrong) == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(valid_utf8("\xE0\xA0\x80 \xF0\x90\x80\x80") == "\xE0\xA0\x80 \xF0\x90\x80\x80");
}

TEST_CASE("coarse numbers keep 12 bits") {
  CHECK(coarse(0.5) == 0.5);
  CHECK(coarse(1 + 1.0 / 4096) == 1 + 1.0 / 4096);
  CHECK(coarse(1 + 1.0 / 16384) == 1);
  CHECK(std::isnan(coarse(kNotMeasured)));
}

TEST_CASE("cells gather to the trace of one run, and a manifest") {
  const TraceFolder folder("gather");
  write(folder / "whole.h5", false, 1000000);
  write_cell(folder / "a.h5", 0, 7);  // Two more than are wanted.
  write_cell(folder / "b.h5", 1, 5);
  std::vector<CellRow> rows(3);
  rows[0].id = "a", rows[0].status = "done", rows[0].run = 0;
  rows[1].id = "c", rows[1].status = "failed", rows[1].reason = "no memory", rows[1].signal = 9,
  rows[1].attempts = 2;
  rows[2].id = "b", rows[2].status = "done", rows[2].run = 1;
  const std::vector<RunRow> runs = made_runs();
  gather(folder / "all.h5", made_provenance(),
         {{folder / "a.h5", runs[0].arm, 0, 5, 1, "", runs[0].axes},
          {folder / "b.h5", runs[1].arm, 0, 5, 1, "", runs[1].axes}},
         rows);
  CHECK(Trace(folder / "all.h5").runs()[1].axes.at(0).value == "self");
  CHECK(differs_in(folder / "all.h5", folder / "whole.h5") == "");
  const std::vector<CellRow> found = manifest(Trace(folder / "all.h5"));
  REQUIRE(found.size() == 3);
  CHECK(found[0].samples == 5);
  CHECK(found[1].run == -1);
  CHECK(found[1].reason == "no memory");
  CHECK(found[1].signal == 9);
  CHECK(found[2].run == 1);
  CHECK(manifest(Trace(folder / "whole.h5")).empty());
}

TEST_CASE("more cells than files may be open are gathered all the same") {
  const TraceFolder folder("gather-many");
  std::vector<GatheredTrace> cells;
  std::vector<CellRow> rows(450);
  write_cell(folder / "a.h5", 0, 2);
  for (int i = 0; i < 450; ++i) {
    cells.push_back({folder / "a.h5", "cell " + std::to_string(i), 0, 2, 1});
    rows[i].status = "done", rows[i].run = i;
  }
  gather(folder / "all.h5", made_provenance(), cells, rows);
  const Trace trace(folder / "all.h5");
  CHECK(trace.samples() == 900);
  CHECK(trace.runs()[449].arm == "cell 449");
  SampleRow last = trace.sample(899), expected = made_sample(0, 1, 0);
  expected.run = 449;
  CHECK(differs_in(last, expected) == "");
}

// Where a file system has no locks, two tasks that were given the same cell write at the same time.
TEST_CASE("two writers that no lock keeps apart do no harm") {
  const TraceFolder folder("two-writers");
  write(folder / "whole.h5", false, 1000000);
  const std::string path = folder / "a.h5";
  {
    TraceWriter first(path, {made_provenance(), made_runs()}, units_of(1), true);
    std::filesystem::remove(path + ".units/lock");  // This is as if it had been another machine.
    TraceWriter second(path, {made_provenance(), made_runs()}, units_of(1), true);
    for (int i = 0; i < 10; ++i) {
      first.sample(made_sample(i % 2, i / 2, 0));
      second.sample(made_sample((9 - i) % 2, (9 - i) / 2, 0));
    }
    second.close();
    CHECK(differs_in(path, folder / "whole.h5") == "");
    first.close();
  }
  CHECK(differs_in(path, folder / "whole.h5") == "");
}

TEST_CASE("a folder that cannot be written ends a run cleanly") {
  const TraceFolder folder("unwritable");
  std::filesystem::create_directory(folder / "closed");
  std::ofstream(folder / "closed/units") << "";
  CHECK(message(
            [&] {
              TraceWriter(folder / "closed/units/a.h5", {made_provenance(), made_runs()},
                          units_of(1), false);
            },
            73)
            .find("units") != std::string::npos);
  CHECK(message(
            [&] {
              TraceWriter("/proc/draftlab/a.h5", {made_provenance(), made_runs()}, units_of(1),
                          false);
            },
            73)
            .find("/proc/draftlab") != std::string::npos);
}

}  // namespace draftlab
