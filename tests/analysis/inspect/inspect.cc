#include "analysis/inspect/inspect.h"

#include <doctest/doctest.h>

#include <sstream>

#include "core/base/error.h"
#include "tests/core/trace/trace_fixture.h"

namespace draftlab {
namespace {

// One step: three drafts, of which one is the target's own, one is accepted and one is replaced.
SampleRow one_step() {
  SampleRow row = made_sample(0, 0, 0, 1);
  StepRow& step = row.steps[0];
  step.drafts.resize(3);
  step.tokens.resize(3);
  for (int i = 0; i < 3; ++i) {
    step.drafts[i].position = step.tokens[i].position = 3 + i;
    step.drafts[i].depth = step.tokens[i].rank = i;
    step.drafts[i].token = step.tokens[i].token = 10 + i;
    step.drafts[i].accepted = i < 2;
    step.tokens[i].source = static_cast<std::int32_t>(i < 2 ? Source::accepted : Source::resampled);
  }
  step.tokens[2].token = 99;
  step.exact = 1;
  step.committed = row.generated = 3;
  step.stop = static_cast<std::int32_t>(Stop::wrong_token);
  row.text = "red \x1b[31m text";
  row.length = 8;
  return row;
}

}  // namespace

TEST_CASE("a step is drawn: what was drafted, accepted, replaced") {
  const TraceFolder folder("inspect");
  {
    TraceWriter writer(folder / "a.h5", {{}, made_runs()}, TraceOptions{}, false);
    writer.sample(one_step());
    writer.close();
  }
  const Trace trace(folder / "a.h5");
  InspectOptions options;
  options.width = 200;
  std::string picture = inspect(trace, 0, options);
  CHECK(
      picture.find("    0    3  d+v    3:10\u00B7 4:11\u2713 5:12\u2717\u219299 | wrong_token\n") !=
      std::string::npos);
  CHECK(picture.find("canvas \u2026 10/0 11/0 99/0 \u2026\n") != std::string::npos);
  CHECK(picture.find("8 positions, 3 given, 3 decoded in 1 steps; NFE 3 (1 prefill, 1 draft, 1 "
                     "verify); 1.000 tokens per forward") != std::string::npos);
  options.ascii = true;
  options.piece = [](int run, Token token) {
    return (run == 0 ? "\u2581w" : "other") + std::to_string(token);
  };
  picture = inspect(trace, 0, options);
  CHECK(picture.find("3:_w10= 4:_w11+ 5:_w12x>_w99 |") != std::string::npos);
  CHECK(picture.find("text   red [31m text\n") != std::string::npos);
  for (char c : picture) CHECK((c == '\n' || (c >= ' ' && c < 127)));
  CHECK_THROWS_AS(inspect(trace, 1, options), DataError);
}

TEST_CASE("a picture is as wide as asked, and shows the steps asked for") {
  const TraceFolder folder("inspect");
  write_made(folder / "a.h5", 1, 12);
  const Trace trace(folder / "a.h5");
  InspectOptions options;
  options.ascii = true;
  options.width = 60;
  read_steps("3:5", options);
  const std::string picture = inspect(trace, 0, options);
  CHECK(picture.find("\n    3 ") != std::string::npos);
  CHECK(picture.find("\n    4 ") != std::string::npos);
  CHECK(picture.find("\n    5 ") == std::string::npos);
  std::istringstream lines(picture);
  for (std::string line; std::getline(lines, line);)
    CHECK((line.size() <= 60 || line.find("position") != std::string::npos ||
           line.find("tokens by") != std::string::npos));
  read_steps("7", options);
  CHECK(options.end_step == 7);
  for (const char* wrong : {"", "a:b", "1:2:3", "-1"})
    CHECK_THROWS_AS(read_steps(wrong, options), UsageError);
}

}  // namespace draftlab
