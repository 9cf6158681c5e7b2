#include "analysis/frame/frame.h"

#include <doctest/doctest.h>

#include <fstream>

#include "core/base/error.h"
#include "tests/analysis/traces.h"
#include "tests/complaint.h"

namespace draftlab {
namespace {

using testing::has;

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const DataError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a trace as columns") {
  const TraceFolder folder("frame");
  write_made(folder / "a.h5", 6);
  const Frame frame({folder / "a.h5"});
  REQUIRE(frame.arms().size() == 2);
  CHECK(frame.key(1, "drafter") == "self");
  CHECK(frame.key(1, "no.such") == "");
  CHECK(frame.varying() == std::vector<std::string>{"drafter"});
  CHECK(frame.scores() == std::vector<std::string>{"exact_match", "rouge_1"});
  CHECK(frame.prompts() == std::vector<std::string>{"prompt-0", "prompt-1", "prompt-2"});
  const auto generated = frame.numbers("sample_generated"),
             rouge = frame.numbers("sample_score_rouge_1");
  REQUIRE(frame.samples().size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    const SampleRow made = made_sample(frame.samples()[i].arm, frame.samples()[i].prompt, 0);
    CHECK(generated[i] == made.generated);
    CHECK(std::isnan(rouge[i]) == (frame.samples()[i].prompt % 2 == 1));
  }
  CHECK(frame.texts("sample_text")[0] == made_sample(0, 0, 0).text);
}

TEST_CASE("a column that no table has is refused with the nearest name") {
  const TraceFolder folder("frame");
  write_made(folder / "a.h5", 6);
  const Frame frame({folder / "a.h5"});
  const auto visit = [](const Frame::Block&) {};
  CHECK_THROWS_WITH_AS(frame.walk({"step_verifed"}, visit),
                       "the table 'step' of a trace has no column 'step_verifed'; did you mean "
                       "'step_verified'?",
                       Fault);
  CHECK_THROWS_WITH_AS(frame.walk({"verified"}, visit),
                       "the table 'step' of a trace has no column 'verified'; did you mean "
                       "'step_verified'?",
                       Fault);
  CHECK_THROWS_WITH_AS(frame.walk({"sample_generated"}, visit),
                       "the table 'step' of a trace has no column 'sample_generated'; it is a "
                       "column of the table 'sample'",
                       Fault);
  CHECK_THROWS_WITH_AS(frame.numbers("colour_of_the_sky"),
                       "the table 'sample' of a trace has no column 'colour_of_the_sky'; "
                       "docs/TRACE_FORMAT.md has all columns",
                       Fault);
}

TEST_CASE("an arm's name is its label without the axes of the sweep beside it") {
  const TraceFolder folder("frame");
  const auto arm = [](const std::string& id, const std::string& label) {
    return MadeArm{.id = id,
                   .label = label,
                   .config = "drafter = self\n[decode]\ndraft_length = 4\n[run]\nseed = 2\n"};
  };
  write_arms(folder / "a.h5",
             {arm("1", "S2D2, min-span decode.draft_length=4 run.seed=2"), arm("2", "k = 4"),
              arm("3", "far decode.draft_length=5"), arm("4", "drafter=self decode.draft_length=4"),
              arm("5", "drafter=self")});
  const Frame frame({folder / "a.h5"});
  CHECK(frame.key(0, "arm") == "S2D2, min-span");
  CHECK(frame.key(1, "arm") == "k = 4");
  CHECK(frame.key(2, "arm") == "far decode.draft_length=5");
  CHECK(frame.key(3, "arm") == "drafter=self decode.draft_length=4");
  CHECK(frame.key(4, "arm") == "drafter=self");
}

TEST_CASE("arms vary in a key that they say differently, and in one that only some say") {
  const TraceFolder folder("frame");
  const auto arm = [](const std::string& id, const std::string& config) {
    return MadeArm{.id = id, .label = id, .config = config + "[run]\nseed = 2\n"};
  };
  write_arms(folder / "a.h5", {arm("1", "drafter = self\nplain = 1\n"),
                               arm("2", "drafter = self\nplain = 2\n[router.min-span]\nspan = 4\n"),
                               arm("3", "drafter = self\nplain = 1\n")});
  CHECK(Frame({folder / "a.h5"}).varying() ==
        std::vector<std::string>{"plain", "router.min-span.span"});
}

TEST_CASE("steps and drafts, sample by sample") {
  const TraceFolder folder("frame");
  write_made(folder / "a.h5", 6);
  const Frame frame({folder / "a.h5"});
  int blocks = 0;
  frame.walk(
      {"step_committed"}, Table::draft, {"draft_accepted", "draft_q"},
      [&](const Frame::Block& block) {
        ++blocks;
        for (std::size_t i = 0; i < block.samples.size(); ++i) {
          const Frame::Sample& at = frame.samples()[block.samples[i]];
          const SampleRow made = made_sample(at.arm, at.prompt, 0);
          REQUIRE(block.step_begin[i + 1] - block.step_begin[i] ==
                  static_cast<std::int64_t>(made.steps.size()));
          for (std::size_t s = 0; s < made.steps.size(); ++s) {
            const std::int64_t step = block.step_begin[i] + static_cast<std::int64_t>(s);
            CHECK(block.steps[0][step] == made.steps[s].committed);
            for (std::size_t d = 0; d < made.steps[s].drafts.size(); ++d) {
              CHECK(block.rows[0][block.row_begin[step] + d] == made.steps[s].drafts[d].accepted);
              CHECK(block.rows[1][block.row_begin[step] + d] == made.steps[s].drafts[d].q);
            }
          }
        }
      });
  CHECK(blocks == 1);
}

TEST_CASE("a folder counts a decode once, a file named twice is a repeat") {
  const TraceFolder folder("frame");
  std::filesystem::create_directories(folder / "cells/one");
  write_made(folder / "cells/one/trace.h5", 6);
  write_made(folder / "sweep.h5", 4);
  const Frame whole({folder.path});
  CHECK(whole.files()[0].path == folder / "sweep.h5");
  CHECK(whole.arms().size() == 2);
  int counted = 0;
  for (const Frame::Sample& sample : whole.samples()) counted += sample.counts;
  CHECK(counted == 6);
  const Frame twice({folder / "sweep.h5", folder / "sweep.h5"});
  REQUIRE(twice.samples().size() == 8);
  CHECK(twice.samples()[0].repeat == 0);
  CHECK(twice.samples()[4].repeat == 1);
  CHECK(twice.samples()[4].counts);
  CHECK(twice.numbers("sample_generated")[0] == twice.numbers("sample_generated")[4]);
}

TEST_CASE("a cell that was gathered when it was done is not read again") {
  const TraceFolder folder("frame");
  write_sweep(folder / "sweep.h5", {{.id = "a", .label = "a"}, {.id = "b", .label = "b"}});
  std::filesystem::create_directories(folder / "cells");
  std::ofstream(folder / "cells/a.h5") << "no trace";
  write_arms(folder / "cells/c.h5", {{.id = "c", .label = "c"}});
  const Frame frame({folder.path});
  CHECK(frame.files().size() == 2);
  CHECK(frame.arms().size() == 3);
  std::filesystem::remove(folder / "sweep.h5");
  write_sweep(folder / "sweep.h5", {{.id = "a", .label = "a"}}, {}, "running");
  CHECK_THROWS_AS(Frame({folder.path}), DataError);
}

TEST_CASE("what is no trace is refused in a sentence") {
  const TraceFolder folder("frame");
  write_made(folder / "a.h5", 6, 400);
  CHECK(has(message_of([&] { Frame({folder / "none.h5"}); }), "there is no file"));
  CHECK(has(message_of([&] { Frame({folder / "b"}); }), "there is no file"));
  std::filesystem::create_directories(folder / "b");
  CHECK(has(message_of([&] { Frame({folder / "b"}); }), "holds no trace"));
  std::ofstream(folder / "b/sweep.json") << "{}";
  CHECK(has(message_of([&] { Frame({folder / "b"}); }), "no cell of the sweep in"));

  const auto bytes = std::filesystem::file_size(folder / "a.h5");
  std::filesystem::copy_file(folder / "a.h5", folder / "short.h5");
  std::filesystem::resize_file(folder / "short.h5", bytes / 2);
  CHECK(has(message_of([&] { Frame({folder / "short.h5"}); }), "is damaged or incomplete"));

  rewrite(folder / "a.h5", folder / "lacks.h5", [](ColumnInfo& column, Values&) {
    if (column.name == "step_accepted") column.name.clear();
  });
  const Frame lacks({folder / "lacks.h5"});
  CHECK(lacks.numbers("sample_generated").size() == 6);
  CHECK(message_of([&] { lacks.walk({"step_accepted"}, [](const Frame::Block&) {}); }) ==
        "'" + folder / "lacks.h5" + "' has no column 'step_accepted'");

  ColumnWriter newer(1);
  newer.attribute("magic", std::string(kTraceMagic));
  newer.attribute("schema_version", std::string("2.0"));
  newer.save(folder / "newer.h5");
  CHECK(has(message_of([&] { Frame({folder / "newer.h5"}); }), "version '2.0'"));
  ColumnWriter other(1);
  other.attribute("magic", std::string("something"));
  other.save(folder / "other.h5");
  CHECK(has(message_of([&] { Frame({folder / "other.h5"}); }), "is no trace"));

  // Every damaged byte is either harmless or a DataError, never a crash, when columns are tried one
  // by one.
  std::fstream file(folder / "a.h5", std::ios::in | std::ios::out | std::ios::binary);
  for (std::uintmax_t at = bytes / 7; at < bytes; at += bytes / 7) {
    file.seekp(static_cast<std::streamoff>(at));
    file.write("\xff\xff\xff\xff\xff\xff\xff\xff", 8);
  }
  file.close();
  message_of([&] {
    const Frame damaged({folder / "a.h5"});
    damaged.walk({"step_ns", "step_accepted"}, Table::draft, {"draft_q"},
                 [](const Frame::Block&) {});
  });
}

}  // namespace draftlab
