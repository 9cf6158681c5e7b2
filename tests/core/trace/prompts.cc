#include "core/trace/prompts.h"

#include <doctest/doctest.h>

namespace draftlab {
namespace {

RunRow run_of(const std::vector<std::pair<std::string, std::string>>& settings) {
  RunRow run;
  run.checkpoint = "model", run.checkpoint_digest = "c1", run.data_digest = "d1";
  for (const auto& [key, value] : settings)
    run.settings.push_back({.run = 0, .key = key, .value = value});
  return run;
}

TEST_CASE("arms share prompts where task, its options, data and checkpoint are the same") {
  const auto shares = [](const RunRow& one, const RunRow& other) {
    return first_with_prompts({one, other}, 1) == 0;
  };
  const RunRow stories = run_of({{"task", "stories"}, {"task.stories.prompts", "4"}});
  CHECK(shares(stories, stories));
  CHECK(shares(
      stories,
      run_of({{"task", "stories"}, {"decode.draft_length", "3"}, {"task.stories.prompts", "4"}})));
  CHECK_FALSE(shares(stories, run_of({{"task", "stories"}, {"task.stories.prompts", "5"}})));
  CHECK_FALSE(shares(stories, run_of({{"task", "stories"}})));
  CHECK_FALSE(shares(run_of({}), stories));

  RunRow other = stories;
  other.data_digest = "d2";
  CHECK_FALSE(shares(stories, other));
  other = stories, other.checkpoint = "elsewhere";
  CHECK_FALSE(shares(stories, other));
  other = stories, other.checkpoint_digest = "c2";
  CHECK_FALSE(shares(stories, other));
}

TEST_CASE("a prompt comes back from its rows with all that decoding is given") {
  Prompt prompt;
  prompt.given = {{0, 7}, {3, 8}};
  prompt.ends = {9, 2};
  prompt.choices = {{4, 5}, {}, {6}};
  const std::vector<GivenRow> rows = given_rows({2, 5}, prompt);
  REQUIRE(rows.size() == 7);
  for (const GivenRow& row : rows) {
    CHECK(row.run == 2);
    CHECK(row.prompt == 5);
  }
  CHECK(rows[1].position == 3);  // The place on the canvas.
  CHECK(rows[3].position == 1);  // The place in the list of ends.

  Prompt read;
  add_given(rows, read);
  CHECK(read.given == prompt.given);
  CHECK(read.ends == prompt.ends);
  CHECK(read.choices == prompt.choices);
}

}  // namespace
}  // namespace draftlab
