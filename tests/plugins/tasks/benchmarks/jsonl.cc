// The task `jsonl`: templates, each of its scorers, and what it says of files that do not fit.
#include <doctest/doctest.h>

#include <fstream>

#include "core/base/error.h"
#include "plugins/tasks/benchmarks/field_template.h"
#include "plugins/tasks/benchmarks/python_runs.h"
#include "tests/complaint.h"
#include "tests/plugins/scripted_step.h"
#include "tests/plugins/tasks/bytes.h"
#include "tests/scratch.h"

namespace draftlab {
namespace {

using testing::has;

const Bytes kBytes;

std::unique_ptr<Task> loaded(const std::string& lines, const std::string& options) {
  const std::string path = testing::scratch("questions.jsonl");
  std::ofstream(path) << lines;
  auto task = testing::part(
      &Registries::tasks, "jsonl",
      "path = " + path + "\n" + options +
          (options.find("answer_tokens") == std::string::npos ? "answer_tokens = 40\n" : ""));
  task->load(&kBytes);
  return task;
}

// Returns a score of an answer that ends with a separator.
double score(const Task& task, int index, const std::string& answer,
             const std::string& name = "correct") {
  const Prompt prompt = task.prompt(index);
  Canvas canvas(prompt.length, prompt.given);
  std::vector<Token> tokens = kBytes.encode(answer);
  tokens.resize(40, kBytes.separator());
  std::int32_t at = prompt.offset;
  for (const Token token : tokens) canvas.commit(at++, token);
  for (const Score& score : task.score(prompt, canvas))
    if (score.name == name) return score.value;
  return -1;
}

std::string refused(const std::string& lines, const std::string& options) {
  try {
    loaded(lines, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

TEST_CASE("task jsonl: fields of an object stand in texts") {
  const JsonObject object{
      "'f' line 1",
      nlohmann::json::parse(
          R"({"a": "x", "n": 2.5, "yes": true, "in": {"b": ["y", "z"]}, "none": null})")};
  const auto says = [&](const std::string& text) { return filled(text, object, "o"); };
  CHECK(says("{a}-{n}-{yes}\\n{in.b.1} {{a}}") == "x-2.5-true\nz {a}");
  CHECK_THROWS_WITH(says("{b}"), "'f' line 1 has no 'b'");
  CHECK_THROWS_WITH(says("{in.b.2}"), "'f' line 1 has no 'in.b.2'");
  CHECK_THROWS_WITH(says("{none}"), "'f' line 1 has no 'none'");
  CHECK_THROWS_WITH(says("{in.b}"),
                    "'f' line 1 has a list or an object under 'in.b', where a text is asked");
  CHECK_THROWS_WITH(says("{a"), "o = '{a' has a { without its }");
  CHECK_THROWS_WITH(says("a}"), "o = 'a}' has a } without its {");
}

TEST_CASE("task jsonl: exact, number and regex") {
  const std::string lines =
      "{\"p\": \"2+3\", \"r\": \"so 5\"}\n{\"p\": \"2+5\", \"r\": \"so 7\"}\n";
  const std::string fields = "question = What is {p}?\nanswer = {r}\n";
  const auto exact = loaded(lines, fields);
  CHECK(exact->size() == 2);
  CHECK(given(*exact, 1) == "Question: What is 2+5?\nAnswer:");
  CHECK(score(*exact, 0, "so 5") == 1);
  CHECK(score(*exact, 0, "5") == 0);
  CHECK(refused(lines, fields + "scorer = number\n") ==
        "'" + testing::scratch("questions.jsonl") +
            "' line 1 has the answer 'so 5', in which scorer = number finds nothing");
  const auto regex = loaded(lines, fields + "scorer = regex\npattern = \\d+\n");
  CHECK(score(*regex, 0, "first 9, then 5") == 1);
  CHECK(score(*regex, 0, "first 5, then 9") == 0);
  CHECK(score(*regex, 0, "five") == 0);
  CHECK(score(*regex, 0, "five", "extracted") == 0);
  CHECK(score(*regex, 1, "7.", "extracted") == 1);
  CHECK(has(refused(lines, fields + "scorer = regex\n"), "needs task.jsonl.pattern"));
  CHECK(has(refused(lines, fields + "scorer = regex\npattern = (\n"), "the pattern '('"));
}

TEST_CASE("task jsonl: the last number") {
  const auto task = loaded("{\"q\": \"?\", \"a\": \"#### 12\"}\n",
                           "question = {q}\nanswer = {a}\nscorer = number\n");
  CHECK(score(*task, 0, "That is #### 12") == 1);
  CHECK(score(*task, 0, "That is #### 13") == 0);
}

TEST_CASE("task jsonl: choices, named by their text or their index") {
  const std::string lines =
      "{\"q\": \"Sky?\", \"choices\": [\"red\", \"blue\"], \"a\": \"blue\"}\n"
      "{\"q\": \"Grass?\", \"choices\": [\"green\", \"grey\"], \"a\": 0}\n";
  const std::string fields = "question = {q}\nanswer = {a}\nscorer = choice\n";
  const auto task = loaded(lines, fields);
  const Prompt prompt = task->prompt(0);
  REQUIRE(prompt.choices.size() == 2);
  CHECK(kBytes.decode(prompt.choices[1]) == " blue");
  const auto chosen = [&](int index, std::size_t choice) {
    const Prompt asked = task->prompt(index);
    Canvas canvas(asked.length, asked.given);
    std::int32_t at = asked.offset;
    for (const Token token : asked.choices[choice]) canvas.commit(at++, token);
    return task->score(asked, canvas).front().value;
  };
  CHECK(chosen(0, 1) == 1);
  CHECK(chosen(0, 0) == 0);
  CHECK(chosen(1, 0) == 1);
  CHECK(chosen(1, 1) == 0);
  CHECK(has(refused("{\"q\": \"?\", \"choices\": [\"a\"], \"a\": 1}\n", fields),
            "has the answer '1', which is neither one of its 1 'choices' nor the index of one"));
  CHECK(has(refused(lines, fields + "answer_tokens = 2\n"), "is less than the"));
}

TEST_CASE("task jsonl: programs pass their tests") {
  const std::string lines =
      "{\"q\": \"Double.\", \"a\": \"def f(x): return 2 * x\", \"tests\": [\"assert f(2) == "
      "4\"]}\n";
  const std::string fields = "question = {q}\nanswer = {a}\nscorer = program\n";
  CHECK(has(refused(lines, fields), "needs task.jsonl.python"));
  const std::string python = "/usr/bin/python3";
  try {
    PythonLimits{python}.check("jsonl");
  } catch (const ConfigError& error) {
    MESSAGE("skipped: ", error.what());
    return;
  }
  const auto task = loaded(lines, fields + "python = " + python + "\n");
  CHECK(score(*task, 0, "def f(x): return x + x") == 1);
  CHECK(score(*task, 0, "def f(x): return 4 + x") == 0);
}

}  // namespace
}  // namespace draftlab
