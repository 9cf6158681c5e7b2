#include "plugins/tasks/question_files.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/config.h"
#include "core/error.h"
#include "core/plugin.h"
#include "plugins/builtin.h"
#include "plugins/tasks/python_runs.h"

namespace draftlab {
namespace {

const std::string kTwo =
    R"({"question": "Tom has 3 eggs and 4 eggs. How many?", "answer": "He has 3+4=<<3+4=7>>7 eggs.\n#### 7"})" "\n\n"
    R"({"question": "And 1,000 more?", "answer": "#### 1,007"})" "\n";
const std::string kMbpp =
    R"({"task_id": 11, "text": "Write a function to add.", "code": "def add(a, b):\r\n  return a + b", "test_setup_code": "", "test_list": ["assert add(1, 2) == 3"]})";

TEST_CASE("GSM8K: annotations are left out; what is wrong is refused with its line") {
  const auto questions = parse_gsm8k(kTwo, "test.jsonl");
  REQUIRE(questions.size() == 2);
  CHECK(questions[0].text == "Tom has 3 eggs and 4 eggs. How many?");
  CHECK(questions[0].answer == "He has 3+4=7 eggs.\n#### 7");
  CHECK(questions[1].id == "1");
  CHECK_THROWS_WITH_AS(parse_gsm8k(kTwo + "[]", "x"), "'x' line 4 is not a JSON object", DataError);
  CHECK_THROWS_WITH_AS(parse_gsm8k(R"({"question": "?"})", "x"), "'x' line 1 has no text under 'answer'", DataError);
  CHECK_THROWS_WITH_AS(parse_gsm8k("\n", "x"), "'x' holds no question", DataError);
}

TEST_CASE("MBPP: lines, and the sanitized edition's array") {
  const auto lines = parse_mbpp(kMbpp, "x");
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].id == "11");
  CHECK(lines[0].answer == "def add(a, b):\n  return a + b");
  CHECK(lines[0].tests == std::vector<std::string>{"assert add(1, 2) == 3"});
  const auto array = parse_mbpp(R"([ {"task_id": 2, "prompt": "p", "code": "c", "test_imports": ["import math"], "test_list": []} ])", "x");
  CHECK(array[0].setup == "import math\n");
  CHECK(array[0].text == "p");
  CHECK_THROWS_WITH_AS(parse_mbpp(R"({"task_id": "a"})", "x"), "'x' line 1 has no number under 'task_id'", DataError);
}

TEST_CASE("the shuffle is Python's: random.Random(42).shuffle(list(range(10)))") {
  CHECK(python_shuffle(10, 42) == std::vector<int>{7, 3, 2, 8, 5, 6, 9, 4, 0, 1});
  const std::vector<int> long_one = python_shuffle(1319, 42);
  CHECK(std::vector<int>(long_one.begin(), long_one.begin() + 5) == std::vector<int>{588, 1214, 57, 906, 1252});
  CHECK(python_shuffle(1, 1) == std::vector<int>{0});
  CHECK(python_shuffle(0, 1).empty());
  QuestionFileOptions options;
  options.subset = "shuffled";
  options.count = 200;
  const std::vector<int> authors = chosen_questions(1319, options);
  CHECK(authors.size() == 200);
  CHECK(std::vector<int>(authors.begin(), authors.begin() + 4) == std::vector<int>{2, 15, 21, 22});
  options.subset = "first";
  CHECK(chosen_questions(1319, options)[199] == 199);
  options.count = 0;
  CHECK(chosen_questions(7, options).size() == 7);
}

TEST_CASE("prompts: plain turns and chatml") {
  QuestionFileOptions options;
  CHECK(prompt_text(options, {}, "How many?") == "Question: How many?\nAnswer:");
  options.system = "Be brief.";
  options.instruction = "Box it.";
  CHECK(prompt_text(options, {{"1+1?", "2"}}, "2+2?") == "Be brief.\n\nQuestion: 1+1?\nBox it.\nAnswer: 2\n\nQuestion: 2+2?\nBox it.\nAnswer:");
  options.chat = "chatml";
  CHECK(prompt_text(options, {{"1+1?", "2"}}, "2+2?") ==
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n1+1?\nBox it.<|im_end|>\n<|im_start|>assistant\n2<|im_end|>\n"
        "<|im_start|>user\n2+2?\nBox it.<|im_end|>\n<|im_start|>assistant\n");
}

TEST_CASE("code is taken out of an answer") {
  CHECK(extracted_code("So: [BEGIN]\nx = 1\n[DONE] That is it.") == "\nx = 1\n");
  CHECK(extracted_code("Look:\n```python\nx = 1\n```\nDone.") == "x = 1\n");
  CHECK(extracted_code("[BEGIN]\nx = 1") == "\nx = 1");
  CHECK(extracted_code("x = 1") == "x = 1");
  CHECK(extracted_code("```") == "");
}

TEST_CASE("what was written is run with limits") {
  // A shell stands for the interpreter; a script drops the -I that it does not know.
  CHECK_FALSE(python_succeeds("exit 0", {"/nowhere/python", 1, 64}));
  const std::string script = (std::filesystem::temp_directory_path() / ("draftlab_python_" + std::to_string(getpid()))).string();
  std::ofstream(script) << "#!/bin/sh\nexec /bin/sh \"$2\" \"$3\"\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  CHECK(python_succeeds("exit 0", {script, 5, 512}));
  CHECK_FALSE(python_succeeds("exit 1", {script, 5, 512}));
  CHECK_FALSE(python_succeeds("while true; do :; done", {script, 1, 512}));
  CHECK_FALSE(python_succeeds("sleep 20", {script, 1, 512}));
  std::filesystem::remove(script);
}

class Letters final : public Tokenizer {
 public:
  std::vector<Token> encode(const std::string& text) const override { return {text.begin(), text.end()}; }
  std::string decode(const std::vector<Token>& tokens) const override { return {tokens.begin(), tokens.end()}; }
  std::string piece(Token token) const override { return std::string(1, static_cast<char>(token)); }
  int vocabulary() const override { return 128; }
  Token begin() const override { return 1; }
  Token separator() const override { return 4; }
  Token mask() const override { return 6; }
};

TEST_CASE("tasks gsm8k and mbpp read their files, and score what was decoded") {
  Registries registries;
  register_gsm8k(registries);
  register_mbpp(registries);
  const std::string path = (std::filesystem::temp_directory_path() / ("draftlab_questions_" + std::to_string(getpid()))).string();
  const Letters letters;
  const auto make = [&](const std::string& task, const std::string& options) {
    Faults faults;
    const Config config = Config::parse("[task." + task + "]\n" + options, "test.ini", faults);
    const auto bound = registries.tasks.find(task)->bind(config, "task." + task, faults);
    faults.raise();
    return bound.make();
  };
  const auto scores = [](const Task& task, int index, const std::string& answer) {
    const Prompt prompt = task.prompt(index);
    Canvas canvas(prompt.length, prompt.given);
    for (std::size_t i = 0; i < answer.size(); ++i) canvas.commit(prompt.offset + static_cast<std::int32_t>(i), static_cast<Token>(answer[i]));
    return task.score(prompt, canvas);
  };

  std::ofstream(path) << kTwo;
  const auto gsm8k = make("gsm8k", "path = " + path + "\nfew_shot = 1\nexamples = " + path + "\nanswer_tokens = 40\n");
  gsm8k->load(&letters);
  REQUIRE(gsm8k->size() == 2);
  CHECK(gsm8k->prompt(0).length == gsm8k->prompt(0).offset + 40);
  CHECK(scores(*gsm8k, 1, "It is \\boxed{1007}\x04")[0].value == 1);
  CHECK(scores(*gsm8k, 1, "#### 7\x04")[0].value == 0);
  CHECK(scores(*gsm8k, 1, "no idea\x04")[1].value == 0);
  CHECK_THROWS_AS(make("gsm8k", "")->load(&letters), ConfigError);
  CHECK_THROWS_AS(make("gsm8k", "path = a\nfew_shot = 2\n")->load(&letters), ConfigError);
  CHECK_THROWS_AS(make("gsm8k", "path = " + path + "\nfew_shot = 3\nexamples = " + path + "\n")->load(&letters), DataError);

  std::ofstream(path) << kMbpp;
  const auto mbpp = make("mbpp", "path = " + path + "\n");
  mbpp->load(&letters);
  REQUIRE(mbpp->size() == 1);
  CHECK(mbpp->prompt(0).text == "[BEGIN]\ndef add(a, b):\n  return a + b\n[DONE]");
  REQUIRE(scores(*mbpp, 0, "[BEGIN]def add(a, b): pass\x04").size() == 1);  // nothing runs
  CHECK(scores(*mbpp, 0, "[BEGIN]def add(a, b): pass\x04")[0].value == 1);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace draftlab
