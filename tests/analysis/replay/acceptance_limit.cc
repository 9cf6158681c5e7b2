// Six tokens at positions 0 to 5, decoded stepwise; what was drafted at each step is written down.
#include "analysis/replay/acceptance_limit.h"

#include <doctest/doctest.h>

#include "core/base/error.h"
#include "tests/analysis/traces.h"

namespace draftlab {
namespace {

struct Text {
  std::vector<std::pair<std::int32_t, Token>> committed;  // In the order of commitment.
  // Of the step, (position, its likeliest tokens): where it is not said, the token that is
  // committed there later.
  std::map<int, std::vector<std::pair<std::int32_t, std::vector<Token>>>> said = {};
};

// Drafts stand in the order of commitment, but those that are said come first.
SampleRow decoded(const Text& text, int prompt = 0) {
  SampleRow sample;
  sample.prompt_index = prompt;
  sample.prompt_id = "p" + std::to_string(prompt);
  sample.status = "done";
  sample.length = sample.generated = sample.valid =
      static_cast<std::int32_t>(text.committed.size());
  for (int s = 0; s < sample.length; ++s) {
    StepRow step;
    step.step = s;
    step.masked = step.drafted = sample.length - s;
    step.committed = 1;
    step.counts[Kind::draft].calls = 1, ++sample.counts[Kind::draft].calls;
    std::vector<std::int32_t> done;
    const auto draft = [&](std::int32_t position, const std::vector<Token>& tokens) {
      DraftRow row;
      row.position = position, row.depth = static_cast<std::int32_t>(done.size()),
      row.token = tokens.front();
      double p = .5;
      for (const Token token : tokens) row.top.emplace_back(token, p), p /= 2;
      step.drafts.push_back(row);
      done.push_back(position);
    };
    if (const auto found = text.said.find(s); found != text.said.end())
      for (const auto& [position, tokens] : found->second) draft(position, tokens);
    for (int later = s; later < sample.length; ++later) {
      const auto [position, token] = text.committed[static_cast<std::size_t>(later)];
      if (!std::count(done.begin(), done.end(), position)) draft(position, {token, 90});
    }
    TokenRow token;
    token.position = text.committed[static_cast<std::size_t>(s)].first,
    token.token = text.committed[static_cast<std::size_t>(s)].second;
    step.tokens.push_back(token);
    sample.steps.push_back(step);
  }
  return sample;
}

const std::vector<std::pair<std::int32_t, Token>> kLeftToRight = {{0, 5}, {1, 6}, {2, 7},
                                                                  {3, 8}, {4, 9}, {5, 5}};

TEST_CASE("where all is drafted right, N + 1 tokens a forward, and one forward to begin") {
  const SampleRow sample = decoded({kLeftToRight});
  const Forwards two = forwards_within(sample.steps, 2, 1);
  CHECK(two.stale == 2);      // A round has three steps.
  CHECK(two.any_order == 3);  // They commit 1, 3 and 2.
  CHECK(two.in_order == 3);
  CHECK(forwards_within(sample.steps, 5, 1).stale == 1);
  CHECK(forwards_within(sample.steps, 5, 1).in_order == 2);
  CHECK(forwards_within(sample.steps, 1, 1).any_order == 4);  // They commit 1, 2, 2 and 1.
}

TEST_CASE(
    "drafts stay stale after a miss in the paper's reading, and are made anew in the oracles'") {
  // At step 0, position 1 was drafted wrong, and so were 2 and 3; from step 1 on all is right.
  const SampleRow sample =
      decoded({kLeftToRight, {{0, {{0, {5, 90}}, {1, {1, 6}}, {2, {1, 2}}, {3, {1, 2}}}}}});
  const Forwards one = forwards_within(sample.steps, 3, 1);
  // The rounds are at 0 and 4; tokens 1, 2 and 3 were not among the likeliest at step 0.
  CHECK(one.stale == 2 + 3);
  // Token 0 comes first; then the drafts of step 0 give nothing but the node's own choice, 1; then
  // come 2, 3, 4 and 5.
  CHECK(one.any_order == 1 + 1 + 1);
  CHECK(one.in_order == 3);
  const Forwards both = forwards_within(sample.steps, 3, 2);
  CHECK(both.stale == 2 + 2);  // Token 1 was the second likeliest.
  // Token 0 is first, then come 1 and the node's own 2, then 3, 4 and 5.
  CHECK(both.any_order == 1 + 1 + 1);
}

TEST_CASE("the order matters in order, and only there") {
  // At every step, what is committed next but one is drafted first.
  Text text{kLeftToRight};
  for (int s = 0; s < 4; ++s) {
    const auto next = kLeftToRight[static_cast<std::size_t>(s)],
               swapped = kLeftToRight[static_cast<std::size_t>(s + 2)];
    text.said[s] = {{next.first, {next.second, 90}}, {swapped.first, {swapped.second, 90}}};
  }
  const SampleRow sample = decoded(text);
  const Forwards forwards = forwards_within(sample.steps, 3, 1);
  CHECK(forwards.stale == 2);
  CHECK(forwards.any_order == 3);  // That is 1, 4, 1.
  // Token 0 comes first, then a token a round, the last of which drafts 5 and needs no other.
  CHECK(forwards.in_order == 6);
}

TEST_CASE("limits of a trace: sums over texts, with what cannot be used refused") {
  const TraceFolder folder("limit");
  const auto write = [&](const std::string& path, const Text& text, bool verified = false) {
    TraceWriter writer(path, {{}, {made_run({})}}, TraceOptions{}, false);
    for (int prompt = 0; prompt < 3; ++prompt) {
      SampleRow sample = decoded(text, prompt);
      sample.steps[2].verified = verified;
      writer.sample(std::move(sample));
    }
    writer.close();
  };
  write(folder / "a.h5", {kLeftToRight});
  const auto arms = acceptance_limits(Frame({folder / "a.h5"}), {2, 5});
  REQUIRE(arms.size() == 1);
  CHECK(arms[0].tokens == 18);
  REQUIRE(arms[0].limits.size() == 4);  // There are two lengths, and two tokens were recorded.
  CHECK(arms[0].limits[0].stale.value == doctest::Approx(1 - 2. / 6));
  CHECK(arms[0].limits[0].any_order.value == doctest::Approx(1 - 3. / 6));
  CHECK(arms[0].limits[2].draft_length == 5);
  CHECK(arms[0].limits[2].in_order.value == doctest::Approx(1 - 2. / 6));
  const std::string text = acceptance_limit_tables(arms);
  CHECK(text.find("N = 2") != std::string::npos);
  CHECK(text.find("66.7") != std::string::npos);
  // What was drafted first must be what the step commits, and nothing may be verified.
  write(folder / "b.h5", {kLeftToRight, {{0, {{1, {6, 90}}}}}});
  CHECK_THROWS_AS(acceptance_limits(Frame({folder / "b.h5"}), {2}), DataError);
  write(folder / "c.h5", {kLeftToRight}, true);
  CHECK_THROWS_AS(acceptance_limits(Frame({folder / "c.h5"}), {2}), DataError);
}

}  // namespace
}  // namespace draftlab
