#include "experiments/rerun/recorded_task.h"

#include <doctest/doctest.h>

#include <stdexcept>

namespace draftlab {
namespace {

TEST_CASE("a trace's prompts are handed out by the index that their task gave them") {
  Prompt second, ninth;
  second.id = "second", ninth.id = "ninth", ninth.length = 12;
  RecordedTask task({{2, second}, {9, ninth}});
  task.load(nullptr);
  CHECK(task.size() == 10);
  CHECK(task.prompt(2).id == "second");
  CHECK(task.prompt(9).id == "ninth");
  CHECK(task.prompt(9).length == 12);
  CHECK_THROWS_AS(task.prompt(3), std::out_of_range);
  CHECK(RecordedTask({}).size() == 0);
}

TEST_CASE("a recorded task scores nothing and writes no text") {
  Prompt prompt;
  prompt.length = 2;
  const RecordedTask task({{0, prompt}});
  const Canvas canvas(2, {});
  CHECK(task.score(prompt, canvas).empty());
  CHECK(task.text(prompt, canvas).empty());
}

}  // namespace
}  // namespace draftlab
