#include "analysis/report/summary.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "core/base/table.h"
#include "tests/analysis/traces.h"

namespace draftlab {
namespace {

// 24 forwards, or 16 for the same tokens.
MadeArm stepwise_arm() {
  return {.id = "s",
          .label = "drafter=stepwise",
          .config = "drafter = stepwise\n[run]\nseed = 1\n",
          .steps = 24,
          .drafted = 1,
          .verified = false,
          .seconds = 2,
          .entropy = 4,
          .judge_nll = 23};
}
MadeArm self_arm() {
  return {.id = "f",
          .label = "drafter=self",
          .config = "drafter = self\n[run]\nseed = 1\n",
          .steps = 8,
          .seconds = 0.5,
          .entropy = 4,
          .judge_nll = 23.01};
}

std::string summary_of(const TraceFolder& folder, const std::vector<MadeArm>& arms,
                       const MadeRun& made = {}) {
  std::filesystem::remove(folder / "a.h5");
  write_arms(folder / "a.h5", arms, made);
  return summary(Frame({folder / "a.h5"}));
}

std::size_t longest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}

// Lines may be broken anywhere.
bool mentions(std::string text, const std::string& part) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("tables align and go on below when they are too wide") {
  const TextTable table{{"arm", "NFE", "seconds"},
                        {{"sequential", "20.0", "1.5"}, {"self", "9.5", "-"}}};
  CHECK(table.print() ==
        "arm          NFE  seconds\nsequential  20.0      1.5\nself         9.5        -\n");
  CHECK(table.print(18) ==
        "arm          NFE\nsequential  20.0\nself         9.5\n\narm         seconds\nsequential   "
        "   1.5\nself              -\n");
}

TEST_CASE("a run of two arms") {
  const TraceFolder folder("summary");
  const std::string text = summary_of(folder, {stepwise_arm(), self_arm()});
  CAPTURE(text);
  CHECK(mentions(text, "1.50x [1.50, 1.50]"));  // Forwards: 24 against 16 a prompt.
  CHECK(mentions(text, "4.00x [4.00, 4.00]"));  // Seconds.
  CHECK(mentions(text, "9.97"));                // Perplexity exp(2.3).
  CHECK(mentions(
      text,
      "drafter=self needed 1.50 times fewer function evaluations than drafter=stepwise, in 4.00 "
      "times less time."));
  CHECK(mentions(text, "drafter=self against drafter=stepwise:"));
  CHECK(mentions(text,
                 "judge perplexity cannot be judged from 6 prompts, and 10 are the least: +0.001"));
  CHECK(mentions(text, "entropy cannot be judged from 6 prompts"));
  CHECK(mentions(text, "6 prompts"));
  CHECK(mentions(text, "one checkpoint"));
  CHECK(mentions(text, "exact_match"));
  CHECK(longest_line(text) <= 100);
}

TEST_CASE("a run judges every score that has a margin") {
  const TraceFolder folder("summary");
  MadeArm base = stepwise_arm(), worse = self_arm();
  base.score = [](int p) { return p % 8 == 0 ? 0 : 1; };
  worse.score = [](int p) { return p % 8 == 1 ? 1 : 0; };
  const std::string text = summary_of(folder, {base, worse}, {.prompts = 40});
  CAPTURE(text);
  CHECK(mentions(text, "entropy cannot be judged from 40 prompts, of which all differ alike"));
  CHECK(mentions(text, "exact_match worse by 0.7500 ["));
  CHECK(mentions(text, "beyond the margin of 0.03"));
  CHECK_FALSE(mentions(text, "exact_match equivalent"));
}

TEST_CASE("what was found has six lines at most") {
  const TraceFolder folder("summary");
  std::vector<MadeArm> arms = {stepwise_arm()};
  for (const char* name : {"a", "b", "c", "d"}) {
    arms.push_back(self_arm());
    arms.back().id = name;
    arms.back().label = std::string("drafter=") + name;
    arms.back().config = std::string("drafter = ") + name + "\n[run]\nseed = 1\n";
  }
  const std::string text = summary_of(folder, arms);
  CAPTURE(text);
  const std::size_t begin = text.find("drafter=a against drafter=stepwise: "),
                    end = text.find("\n\n", begin);
  REQUIRE(begin != std::string::npos);
  CHECK(std::count(text.begin() + static_cast<std::ptrdiff_t>(begin),
                   text.begin() + static_cast<std::ptrdiff_t>(end), '\n') < 6);
  CHECK(mentions(text, "more arms were judged; draftlab report has all findings."));
  CHECK(longest_line(text) <= 100);
}

TEST_CASE("seconds that may not be compared have no speedup, in a run and in a sweep") {
  const TraceFolder folder("summary");
  CHECK(mentions(summary_of(folder, {stepwise_arm(), self_arm()}), "speedup"));
  const std::string batch =
      summary_of(folder, {stepwise_arm(), self_arm()}, {.config = "[run]\nbatch = 4\n"});
  CHECK_FALSE(mentions(batch, "speedup"));
  CHECK(mentions(batch, "Seconds are not compared: "));
  CHECK(mentions(batch, "was decoded at batch 4"));
  write_sweep(folder / "sweep.h5", {stepwise_arm(), self_arm()});
  const std::string sweep = summary(Frame({folder / "sweep.h5"}));
  CAPTURE(sweep);
  CHECK(mentions(sweep, "1.50x [1.50, 1.50]"));
  CHECK_FALSE(mentions(sweep, "speedup"));
  CHECK_FALSE(mentions(sweep, "4.00x"));
  CHECK(mentions(sweep, "time arms in one run"));
}

TEST_CASE("seeds of one arm are one row") {
  const TraceFolder folder("summary");
  MadeArm again = self_arm();
  again.id = "f2", again.label = "drafter=self run.seed=2";
  again.config = "drafter = self\n[run]\nseed = 2\n";
  MadeArm first = self_arm();
  first.label = "drafter=self run.seed=1";
  const std::string text = summary_of(folder, {stepwise_arm(), first, again});
  CAPTURE(text);
  CHECK(mentions(text, "12 samples a row"));
  CHECK_FALSE(mentions(text, "seed=2"));
}

TEST_CASE("arms on other prompts form a table of their own") {
  const TraceFolder folder("summary");
  std::vector<MadeArm> infill = {stepwise_arm(), self_arm()}, story = infill;
  for (MadeArm& arm : infill)
    arm.label = "task=infill " + arm.label, arm.config = "task = infill\n" + arm.config,
    arm.id += "i";
  for (MadeArm& arm : story)
    arm.label = "task=story " + arm.label, arm.config = "task = story\n" + arm.config,
    arm.id += "s";
  write_arms(folder / "a.h5", infill);
  write_arms(folder / "b.h5", story, {.first = 100});
  const std::string text = summary(Frame({folder / "a.h5", folder / "b.h5"}));
  CAPTURE(text);
  CHECK(mentions(text, "task=infill drafter=self against task=infill drafter=stepwise"));
  CHECK(mentions(text, "task=story drafter=self against task=story drafter=stepwise"));
}

TEST_CASE("long labels and many scores stay within 100 columns") {
  const TraceFolder folder("summary");
  const std::string label =
      "drafter=self decode.draft_length=5 router.hysteresis.on=1 "
      "acceptance.speculative.epsilon=0.01";
  {
    MadeArm one = stepwise_arm(), two = self_arm();
    one.label = label + " one", two.label = label + " two";
    TraceWriter writer(folder / "a.h5", {{}, {made_run(one), made_run(two)}}, TraceOptions{},
                       false);
    for (int prompt = 0; prompt < 3; ++prompt) {
      for (int arm = 0; arm < 2; ++arm) {
        SampleRow row = made_sample(arm ? two : one, arm, prompt, 0);
        for (int score = 0; score < 9; ++score)
          row.scores.emplace_back("a_long_score_" + std::to_string(score), 0.1);
        writer.sample(std::move(row));
      }
    }
    writer.close();
  }
  const std::string text = summary(Frame({folder / "a.h5"}));
  CAPTURE(text);
  CHECK(longest_line(text) <= 100);
  CHECK(mentions(text, "a_long_score_8"));
}

}  // namespace draftlab
