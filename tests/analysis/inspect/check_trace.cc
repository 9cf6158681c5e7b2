#include "analysis/inspect/check_trace.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <sstream>

#include "core/trace/checksum.h"
#include "core/trace/curves.h"
#include "tests/complaint.h"
#include "tests/core/trace/trace_fixture.h"

namespace draftlab {
namespace {

using testing::has;

std::vector<std::int64_t>& integers(Values& values) { return std::get<0>(values); }
std::vector<double>& numbers(Values& values) { return std::get<1>(values); }

// The findings on a trace that was changed in one place, as one text.
std::string found(const std::function<void(ColumnInfo&, Values&)>& edit) {
  static const TraceFolder folder("check");
  const std::string good = folder / "good.h5", bad = folder / "bad.h5";
  if (!std::filesystem::exists(good)) write_made(good, 6, 4, "2026-01-01T00:00:00Z");
  rewrite(good, bad, edit);
  std::ostringstream out;
  const TraceCheck check = check_trace(bad);
  CHECK(print(check, out) == (check.valid() ? 0 : 65));
  return out.str();
}

}  // namespace

TEST_CASE("a good trace has no findings") {
  const TraceFolder folder("check");
  write_made(folder / "a.h5", 6, 4, "2026-01-01T00:00:00Z");
  std::ostringstream out;
  CHECK(print(check_trace(folder / "a.h5"), out) == 0);
  const Trace trace(folder / "a.h5");
  CHECK(out.str() ==
        folder / "a.h5: valid, schema 1.10, 2 runs, 6 samples, 24 steps, " +
            std::to_string(trace.rows(Table::token)) +
            " tokens, 72 drafts, 0 pieces, 0 plugins, 0 settings, 2 axes, 0 given tokens\n");
  CHECK(found([](ColumnInfo&, Values&) {}).find("MUST") == std::string::npos);
}

TEST_CASE("a cell's trace, which says nothing of its columns, has no findings") {
  const TraceFolder folder("check");
  Provenance made;
  made.software = "draftlab test", made.started = made.ended = "2026-01-01T00:00:00Z";
  TraceWriter writer(folder / "a.h5", {made, made_runs(), Portion::part}, TraceOptions{}, false);
  writer.sample(made_sample(0, 0, 0, 4));
  writer.close();
  std::ostringstream out;
  CHECK(print(check_trace(folder / "a.h5"), out) == 0);
  CHECK(out.str().find("SHOULD") == std::string::npos);
  CHECK(ColumnReader(folder / "a.h5").integer("part") == 1);
}

TEST_CASE("every broken rule is found, with its column and row") {
  auto at = [](const std::string& column, std::int64_t row, double value) {
    return found([&](ColumnInfo& info, Values& values) {
      if (info.name != column) return;
      if (values.index() == 0)
        integers(values)[row] = static_cast<std::int64_t>(value);
      else
        numbers(values)[row] = value;
    });
  };
  CHECK(has(at("token_p", 2, 1.5), "MUST: token_p row 2 lies in its range, not 1.5"));
  CHECK(has(at("token_source", 1, 9), "MUST: token_source row 1 is one of its flag_values, not 9"));
  CHECK(has(at("token_position", 0, 1000),
            "MUST: token_position row 0 lies on the canvas, not 1000"));
  CHECK(has(at("token_rank", 0, 1), "MUST: token_rank row 0 counts up"));
  CHECK(has(at("sample_n_steps", 1, 5),
            "MUST: sample_first_step row 2 is the row after those of the row before, not 8"));
  CHECK(has(at("sample_n_steps", 5, 3),
            "MUST: sample_n_steps add up to the rows of 'step', 24, not 23"));
  CHECK(has(at("step_n_tokens", 3, -1), "MUST: step_n_tokens row 3"));
  CHECK(has(at("token_step_index", 0, 3),
            "MUST: token_step_index row 0 is the row that this one belongs to, not 3"));
  CHECK(has(at("sample_nfe_verify", 4, 17),
            "MUST: sample_nfe_verify row 4 is what its steps add up to, 4, not 17"));
  CHECK(has(at("step_committed", 6, 3 + 4),
            "MUST: step_committed row 6 is the number of its tokens"));
  CHECK(has(at("sample_run_index", 0, 2), "a run that it does not list"));
  CHECK(has(at("sample_prompt_index", 0, 7), "MUST: sample_prompt_index row 1 ascends"));
  CHECK(has(at("step_masked", 2, 50), "SHOULD: step_masked row 2 falls"));
  CHECK(at("step_masked", 2, 50).find("MUST:") == std::string::npos);
}

TEST_CASE("a score that is not finite is found") {
  const std::string text = found([](ColumnInfo& info, Values& values) {
    if (info.name.starts_with("sample_score_"))
      numbers(values)[2] = -std::numeric_limits<double>::infinity();
  });
  CHECK(has(text, "MUST"));
  CHECK(has(text, "is a finite number"));
  CHECK(has(text, "not valid"));
}

TEST_CASE("who makes numbers of a trace warns where it is not valid") {
  const TraceFolder folder("check");
  write_made(folder / "good.h5", 6, 4, "2026-01-01T00:00:00Z");
  rewrite(folder / "good.h5", folder / "bad.h5", [](ColumnInfo& info, Values& values) {
    if (info.name.starts_with("sample_score_"))
      numbers(values)[2] = -std::numeric_limits<double>::infinity();
  });
  CHECK(warnings_of_invalid({folder / "good.h5"}).empty());
  const std::string warnings = warnings_of_invalid({folder / "good.h5", folder / "bad.h5"});
  CHECK(has(warnings, "warning: '" + folder / "bad.h5" + "' is not valid"));
  CHECK(has(warnings, "row 2 is a finite number, not -inf"));
  // The samples alone, as of a large trace.
  CHECK(check_trace(folder / "good.h5", CheckedPart::samples).valid());
  CHECK_FALSE(check_trace(folder / "bad.h5", CheckedPart::samples).valid());
  rewrite(folder / "good.h5", folder / "steps.h5", [](ColumnInfo& info, Values& values) {
    if (info.name == "token_p") numbers(values)[0] = 2;
  });
  CHECK(check_trace(folder / "steps.h5", CheckedPart::samples).valid());
  CHECK_FALSE(check_trace(folder / "steps.h5").valid());
}

TEST_CASE("a column that is missing or of another type is named") {
  CHECK(has(found([](ColumnInfo& info, Values&) {
              if (info.name == "step_score") info.name = "";
            }),
            "has no column 'step_score'"));
  CHECK(has(found([](ColumnInfo& info, Values&) {
              if (info.name == "step_block") info.type = Type::int64;
            }),
            "'step_block' that is not of type int32"));
  CHECK(has(found([](ColumnInfo& info, Values&) {
              if (info.name == "step_ns") info.unit = "s";
            }),
            "SHOULD: step_ns has the units 'ns'"));
}

TEST_CASE("a trace without pieces is whole, one with pieces in disorder is not") {
  const TraceFolder folder("check");
  {
    Provenance made;
    made.software = "draftlab test", made.started = made.ended = "2026-01-01T00:00:00Z";
    TraceWriter writer(folder / "spelled.h5", {made, made_runs()}, TraceOptions{}, false);
    writer.spell_with([](int, Token token) { return "t" + std::to_string(token); });
    writer.sample(made_sample(0, 0, 0));
    writer.close();
  }
  auto changed = [&](const std::string& column, std::int64_t row, std::int64_t value) {
    rewrite(folder / "spelled.h5", folder / "changed.h5", [&](ColumnInfo& info, Values& values) {
      if (info.name == column) integers(values)[row] = value;
    });
    std::ostringstream out;
    print(check_trace(folder / "changed.h5"), out);
    return out.str();
  };
  CHECK(check_trace(folder / "spelled.h5").findings.empty());
  CHECK(has(changed("piece_id", 1, 0),
            "MUST: piece_id row 1 ascends within its arm, each once, not 0"));
  CHECK(has(changed("piece_run_index", 0, 2),
            "MUST: piece_run_index row 0 is a row of the run table, not 2"));
  CHECK(has(changed("piece_run_index", Trace(folder / "spelled.h5").rows(Table::piece) - 1, 1),
            "is the first arm of its checkpoint, not 1"));
}

TEST_CASE("many rows of one rule are counted, not listed") {
  const std::string text = found([](ColumnInfo& info, Values& values) {
    if (info.name == "draft_q") std::fill(numbers(values).begin(), numbers(values).end(), 2.0);
  });
  CHECK(has(text, "and 67 more rows of draft_q lies in its range"));
}

TEST_CASE("what is no trace is said in one sentence") {
  const TraceFolder folder("check");
  std::ofstream(folder / "text.h5") << "not HDF5 at all";
  std::ostringstream out;
  CHECK(print(check_trace(folder / "text.h5"), out) == 65);
  CHECK(has(out.str(), "cannot be opened as HDF5"));
  CHECK(print(check_trace(folder / "absent.h5"), out) == 65);
  CHECK(has(out.str(), "there is no file"));
}

TEST_CASE("a damaged trace whose checksum fits breaks no checker") {
  const TraceFolder folder("check");
  write_made(folder / "good.h5", 3, 3, "2026-01-01T00:00:00Z");
  std::ifstream in(folder / "good.h5", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  std::mt19937 random(11);
  int wrong = 0;
  for (int i = 0; i < 40; ++i) {
    std::string damaged = bytes;
    for (int b = 0; b < 8; ++b) damaged[random() % damaged.size()] = static_cast<char>(random());
    seal(std::as_writable_bytes(std::span(damaged)));
    std::ofstream(folder / "bad.h5", std::ios::binary) << damaged;
    const TraceCheck check = check_trace(folder / "bad.h5");
    CHECK_FALSE(check.summary.empty());
    wrong += !check.valid();
  }
  CHECK(wrong > 10);
}

TEST_CASE("curves are checked too") {
  const TraceFolder folder("check");
  Provenance made;
  made.software = "test", made.started = "now";
  CurveWriter writer(folder / "curves.h5", made);
  writer.add(CurveRow{});
  writer.flush();
  const TraceCheck check = check_trace(folder / "curves.h5");
  CHECK(check.findings.empty());
  CHECK(check.summary == "valid, schema 1.10, 1 curve, 0 validations");
}

}  // namespace draftlab
