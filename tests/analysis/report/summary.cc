#include "analysis/report/summary.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "analysis/table.h"

namespace draftlab {
namespace {

SampleRow sample(int run, int prompt, int forwards, double seconds, double nll) {
  SampleRow row;
  row.run = run;
  row.prompt_index = prompt;
  row.prompt_id = "p" + std::to_string(prompt);
  row.generated = 20;
  row.counts[Kind::draft].calls = run == 0 ? forwards : forwards / 2;
  row.counts[Kind::verify].calls = run == 0 ? 0 : forwards / 2;
  row.seconds = seconds;
  row.entropy_bits = 4;
  row.judge_nll = nll;
  row.judge_tokens = 10;
  row.scores = {{"rouge1", 0.5}};
  return row;
}

RunRow run(const std::string& arm) {
  RunRow row;
  row.arm = arm;
  return row;
}

std::size_t longest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}

// Lines may be broken anywhere.
bool has(std::string text, const std::string& part) {
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
  std::vector<SampleRow> samples;
  for (int prompt = 0; prompt < 6; ++prompt) {
    samples.push_back(sample(0, prompt, 20, 2 + 0.1 * prompt, 23));
    samples.push_back(sample(1, prompt, 10, 0.5 + 0.025 * prompt, 23.01 + 0.001 * prompt));
  }
  const std::string text = summary({run("stepwise"), run("self")}, samples, {});
  CAPTURE(text);
  CHECK(has(text, "2.00x [2.00, 2.00]"));  // forwards: 20 against 10 a prompt
  CHECK(has(text, "4.00x [4.00, 4.00]"));  // seconds
  CHECK(has(text, "9.97"));                // perplexity exp(2.3)
  CHECK(has(text, "self against stepwise"));
  CHECK(has(text, "perplexity equivalent within 0.05 nats a token: +0.001"));
  CHECK(has(text, "entropy equivalent within 0.1 bits: +0.000 [+0.000, +0.000]"));
  CHECK(has(text, "6 prompts"));
  CHECK(has(text, "one checkpoint"));
  CHECK(has(text, "rouge1"));
  CHECK(longest_line(text) <= 120);
}

TEST_CASE("seconds at batch > 1 are refused, a wide margin is not invented") {
  std::vector<SampleRow> samples;
  for (int prompt = 0; prompt < 4; ++prompt) {
    samples.push_back(sample(0, prompt, 20, kNotMeasured, 20));
    samples.push_back(sample(1, prompt, 10, kNotMeasured, prompt % 2 ? 15 : 25));
  }
  const std::string text = summary({run("stepwise"), run("self")}, samples, {});
  CAPTURE(text);
  CHECK(has(text, "undefined at batch > 1"));
  CHECK(has(text, "perplexity not shown equivalent within 0.05 nats a token: +0.000"));
  CHECK(has(text, "; needs about 1142 prompts"));
}

TEST_CASE("prompts are paired by name, and an unfinished arm is compared where it can be") {
  std::vector<SampleRow> samples;
  for (int prompt = 0; prompt < 5; ++prompt)
    samples.push_back(sample(0, prompt, prompt == 4 ? 1000 : 20, 1, 23));
  for (int prompt = 3; prompt >= 0; --prompt) samples.push_back(sample(1, prompt, 10, 1, 23));
  const std::string text = summary({run("stepwise"), run("self")}, samples, {});
  CAPTURE(text);
  CHECK(has(text, "2.00x [2.00, 2.00]"));
  CHECK(has(text, "5 prompts, 5 samples an arm (at least 4"));
}

TEST_CASE("arms on other prompts form a table of their own") {
  std::vector<SampleRow> samples;
  for (int prompt = 0; prompt < 3; ++prompt) {
    for (int arm = 0; arm < 4; ++arm)
      samples.push_back(sample(arm, prompt + (arm < 2 ? 0 : 100), arm % 2 ? 10 : 20, 1, 23));
  }
  const std::string text = summary(
      {run("infill stepwise"), run("infill self"), run("story stepwise"), run("story self")},
      samples, {});
  CAPTURE(text);
  CHECK(has(text, "infill self against infill stepwise"));
  CHECK(has(text, "story self against story stepwise"));
  CHECK(summary({}, {}, {}) == "no finished sample\n");
}

TEST_CASE("long labels and many scores stay within 120 columns") {
  std::vector<SampleRow> samples;
  for (int prompt = 0; prompt < 3; ++prompt) {
    for (int arm = 0; arm < 2; ++arm) {
      samples.push_back(sample(arm, prompt, 12345, 1234.5 + prompt, 23));
      samples.back().counts[Kind::prefill].calls = samples.back().counts[Kind::commit].calls =
          samples.back().drafter_counts[Kind::draft].calls = 3;
      for (int score = 0; score < 9; ++score)
        samples.back().scores.emplace_back("a_long_score_" + std::to_string(score), 0.1);
    }
  }
  const std::string label =
      "drafter=self decode.draft_length=5 router.hysteresis.on=1 "
      "acceptance.speculative.epsilon=0.01";
  const std::string text = summary({run(label + " a"), run(label + " b")}, samples, {});
  CAPTURE(text);
  CHECK(longest_line(text) <= 120);
  CHECK(has(text, "a_long_score_8"));
}

}  // namespace draftlab
