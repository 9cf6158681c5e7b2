// The reader of SPEED-Bench's files.
#include <doctest/doctest.h>

#include <fstream>

#include "core/base/error.h"
#include "tests/plugins/scripted_step.h"
#include "tests/plugins/tasks/bytes.h"
#include "tests/scratch.h"

namespace draftlab {
namespace {

std::unique_ptr<Task> asked(const std::string& lines, const std::string& options = "") {
  const std::string path = testing::scratch("speed-bench.jsonl");
  std::ofstream(path) << lines;
  static const Bytes tokenizer;
  auto task = testing::part(&Registries::tasks, "speed-bench", "path = " + path + "\n" + options);
  task->load(&tokenizer);
  return task;
}

const std::string kLines =
    R"({"question_id": 7, "category": "coding", "sub_category": "", "turns": )"
    R"(["Sort this.", "Faster!"], "source": "x", "src_id": "1", "difficulty": null, )"
    R"("multiturn": true}
{"question_id": "b-2", "category": "math", "turns": ["What is 2 + 2?"]}
{"question_id": 9, "category": "coding", "turns": ["Write a loop."]}
)";

TEST_CASE("speed-bench: the first turn is asked, and the id begins with the category") {
  const auto task = asked(kLines);
  REQUIRE(task->size() == 3);
  CHECK(task->prompt(0).id == "coding/7");
  CHECK(task->prompt(1).id == "math/b-2");
  std::vector<Token> given;
  const Prompt first = task->prompt(0);
  for (const auto& [position, token] : first.given) given.push_back(token);
  const std::string text = Bytes().decode(given);
  CHECK(text.find("Sort this.") != std::string::npos);
  CHECK(text.find("Faster!") == std::string::npos);
  const Prompt prompt = task->prompt(1);
  CHECK(task->score(prompt, Canvas(prompt.length, prompt.given)).empty());
}

TEST_CASE("speed-bench: half of each category is its first questions, rounded up") {
  const auto task = asked(kLines, "share = 0.5\n");
  REQUIRE(task->size() == 2);
  CHECK(task->prompt(0).id == "coding/7");
  CHECK(task->prompt(1).id == "math/b-2");
}

TEST_CASE("speed-bench: a question without a turn or a category is refused with its line") {
  CHECK_THROWS_WITH_AS(asked("{\"question_id\": 1, \"category\": \"qa\", \"turns\": []}\n"),
                       doctest::Contains("line 1 has no first turn"), DataError);
  CHECK_THROWS_AS(asked("{\"question_id\": 1, \"turns\": [\"a\"]}\n"), DataError);
  CHECK_THROWS_AS(asked("{\"category\": \"qa\", \"turns\": [\"a\"]}\n"), DataError);
}

}  // namespace
}  // namespace draftlab
