#include "plugins/tasks/benchmarks/question_files.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "core/config/config.h"
#include "core/config/plugin.h"
#include "plugins/builtin.h"
#include "plugins/tasks/benchmarks/python_shuffle.h"
#include "tests/plugins/tasks/ascii.h"

namespace draftlab {
namespace {

const std::string kTwo = R"({"question": "Tom has 3 eggs and 4 eggs. How many?", )"
                         R"("answer": "He has 3+4=<<3+4=7>>7 eggs.\n#### 7"})"
                         "\n\n"
                         R"({"question": "And 1,000 more?", "answer": "#### 1,007"})"
                         "\n";
const std::string kMbpp =
    R"({"task_id": 11, "text": "Write a function to add.", "code": "def add(a, )"
    R"(b):\r\n  return a + b", "test_setup_code": "", "test_list": ["assert add(1, 2) == 3"]})";

TEST_CASE("GSM8K: annotations are left out; what is wrong is refused with its line") {
  const auto questions = parse_gsm8k(kTwo, "test.jsonl");
  REQUIRE(questions.size() == 2);
  CHECK(questions[0].text == "Tom has 3 eggs and 4 eggs. How many?");
  CHECK(questions[0].answer == "He has 3+4=7 eggs.\n#### 7");
  CHECK(questions[1].id == "1");
  CHECK_THROWS_WITH_AS(parse_gsm8k(kTwo + "[]", "x"), "'x' line 4 is not a JSON object", DataError);
  CHECK_THROWS_WITH_AS(parse_gsm8k(R"({"question": "?"})", "x"),
                       "'x' line 1 has no text under 'answer'", DataError);
  CHECK_THROWS_WITH_AS(parse_gsm8k("\n", "x"), "'x' holds no JSON object", DataError);
}

TEST_CASE("MBPP: lines, and the sanitized edition's array") {
  const auto lines = parse_mbpp(kMbpp, "x");
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].id == "11");
  CHECK(lines[0].answer == "def add(a, b):\n  return a + b");
  CHECK(lines[0].tests == std::vector<std::string>{"assert add(1, 2) == 3"});
  const auto array =
      parse_mbpp(R"([ {"task_id": 2, "prompt": "p", "code": "c", "test_imports": ["import math"], )"
                 R"("test_list": []} ])",
                 "x");
  CHECK(array[0].setup == "import math\n");
  CHECK(array[0].text == "p");
  CHECK_THROWS_WITH_AS(parse_mbpp(R"({"task_id": "a"})", "x"),
                       "'x' line 1 has no number under 'task_id'", DataError);
}

TEST_CASE("the shuffle is Python's: random.Random(42).shuffle(list(range(10)))") {
  CHECK(python_shuffle(10, 42) == std::vector<int>{7, 3, 2, 8, 5, 6, 9, 4, 0, 1});
  const std::vector<int> long_one = python_shuffle(1319, 42);
  CHECK(std::vector<int>(long_one.begin(), long_one.begin() + 5) ==
        std::vector<int>{588, 1214, 57, 906, 1252});
  CHECK(python_shuffle(1, 1) == std::vector<int>{0});
  CHECK(python_shuffle(0, 1).empty());
  QuestionFileOptions options;
  options.subset = Subset::shuffled;
  options.count = 200;
  const std::vector<int> authors = chosen_questions(1319, options);
  CHECK(authors.size() == 200);
  CHECK(std::vector<int>(authors.begin(), authors.begin() + 4) == std::vector<int>{2, 15, 21, 22});
  options.subset = Subset::first;
  CHECK(chosen_questions(1319, options)[199] == 199);
  options.count = 0;
  CHECK(chosen_questions(7, options).size() == 7);
}

// Questions of several subjects, in turns, as long as each has any.
std::vector<FileQuestion> of_subjects(std::vector<int> sizes) {
  std::vector<FileQuestion> questions;
  for (bool any = true; any;) {
    any = false;
    for (std::size_t subject = 0; subject < sizes.size(); ++subject) {
      if (sizes[subject]-- <= 0) continue;
      any = true;
      questions.emplace_back().subject = "subject " + std::to_string(subject);
    }
  }
  return questions;
}

TEST_CASE("lm-eval's limit of 0.1 takes a tenth of each subject, rounded up") {
  const auto asked = [](const std::vector<int>& sizes, QuestionFileOptions options = {}) {
    const std::vector<FileQuestion> questions = of_subjects(sizes);
    return share_of_subjects(chosen_questions(static_cast<int>(questions.size()), options),
                             questions, 0.1);
  };
  // The seven test sets of MATH; GSM8K; HumanEval; and MBPP's tasks 11 to 510 of 974.
  CHECK(asked({1187, 474, 479, 903, 540, 871, 546}).size() == 119 + 48 + 48 + 91 + 54 + 88 + 55);
  CHECK(asked({1319}).size() == 132);
  CHECK(asked({164}).size() == 17);
  QuestionFileOptions mbpp;
  mbpp.skip = 10;
  mbpp.count = 500;
  const std::vector<int> tasks = asked({974}, mbpp);
  CHECK(tasks.size() == 50);
  CHECK(tasks.front() == 10);
  CHECK(tasks.back() == 59);
  // Two are of one subject, and one is of the other.
  CHECK(asked({15, 5}) == std::vector<int>{0, 1, 2});
}

TEST_CASE("MATH: a subject stands under type, or subject") {
  const auto questions =
      parse_math(R"({"problem": "1+1?", "solution": "\\boxed{2}", "type": "Algebra"})"
                 "\n"
                 R"({"problem": "1+2?", "solution": "\\boxed{3}", "subject": "Geometry"})"
                 "\n"
                 R"({"problem": "1+3?", "solution": "\\boxed{4}"})",
                 "x");
  CHECK(questions[0].subject == "Algebra");
  CHECK(questions[1].subject == "Geometry");
  CHECK(questions[2].subject.empty());
}

// One that knows some markup, as one token each.
class Marked final : public Tokenizer {
 public:
  explicit Marked(std::vector<std::string> known) : known_(std::move(known)) {}
  std::vector<Token> encode(const std::string& text) const override {
    return std::count(known_.begin(), known_.end(), text)
               ? std::vector<Token>{1}
               : std::vector<Token>(text.begin(), text.end());
  }
  std::string decode(const std::vector<Token>& tokens) const override {
    return {tokens.begin(), tokens.end()};
  }
  std::string piece(Token token) const override { return std::to_string(token); }
  int vocabulary() const override { return 128; }
  Token begin() const override { return kNoToken; }
  Token separator() const override { return 4; }
  Token mask() const override { return 6; }

 private:
  std::vector<std::string> known_;
};

TEST_CASE("prompts: plain turns, and the markup of chat models") {
  QuestionFileOptions options;
  const Ascii letters;
  CHECK(prompt_text(options, letters, {}, "How many?") == "Question: How many?\nAnswer:");
  CHECK(next_turn(options) == "\n\nQuestion: ");
  options.system = "Be\\nbrief.";
  options.instruction = "Box it.";
  CHECK(prompt_text(options, letters, {{"1+1?", "2"}}, "2+2?") ==
        "Be\nbrief.\n\nQuestion: 1+1?\nBox it.\nAnswer: 2\n\nQuestion: 2+2?\nBox it.\nAnswer:");
  options.chat = Chat::chatml;
  CHECK(prompt_text(options, letters, {{"1+1?", "2"}}, "2+2?") ==
        "<|im_start|>system\nBe\nbrief.<|im_end|>\n<|im_start|>user\n1+1?\nBox "
        "it.<|im_end|>\n<|im_start|>assistant\n2<|im_end|>\n"
        "<|im_start|>user\n2+2?\nBox it.<|im_end|>\n<|im_start|>assistant\n");
  options = {};
  options.chat = Chat::model;
  CHECK(prompt_text(options, letters, {}, "Q") == "Question: Q\nAnswer:");
  CHECK(prompt_text(options, Marked({"<|im_start|>"}), {}, "Q") ==
        "<|im_start|>user\nQ<|im_end|>\n<|im_start|>assistant\n");
  CHECK(prompt_text(options, Marked({"<|start_header_id|>", "<|startoftext|>"}), {}, "Q") ==
        "<|startoftext|><|start_header_id|>user<|end_header_id|>\n\nQ<|eot_id|><|start_header_id|>"
        "assistant<|end_header_id|>\n\n");
  options.system = "detailed thinking off";
  CHECK(prompt_text(options, Marked({"<role>"}), {}, "Q") ==
        "<role>SYSTEM</role>detailed thinking "
        "off<|role_end|><role>HUMAN</role>Q<|role_end|><role>ASSISTANT</role>");
  options = {};
  options.turn = "Problem:\\n{question}\\n\\nSolution:\\n{answer}";
  CHECK(prompt_text(options, letters, {{"a", "b"}}, "c") ==
        "Problem:\na\n\nSolution:\nb\n\nProblem:\nc\n\nSolution:\n");
  options.turn = "{question}{answer}";
  CHECK(prompt_text(options, letters, {}, "def f():\n") == "def f():\n");
  CHECK(next_turn(options).empty());
}

TEST_CASE("tasks gsm8k and mbpp read their files, and score what was decoded") {
  Registries registries;
  register_task_gsm8k(registries);
  register_task_mbpp(registries);
  const std::string path =
      (std::filesystem::temp_directory_path() / ("draftlab_questions_" + std::to_string(getpid())))
          .string();
  const Ascii letters;
  const auto make = [&](const std::string& task, const std::string& options) {
    Diagnostics diagnostics;
    const Config config = Config::parse("[task." + task + "]\n" + options, "test.ini", diagnostics);
    const auto bound = registries.tasks.find(task)->bind(config, "task." + task, diagnostics);
    diagnostics.raise();
    return bound.make();
  };
  const auto scores = [](const Task& task, int index, const std::string& answer) {
    const Prompt prompt = task.prompt(index);
    Canvas canvas(prompt.length, prompt.given);
    for (std::size_t i = 0; i < answer.size(); ++i)
      canvas.commit(prompt.offset + static_cast<std::int32_t>(i), static_cast<Token>(answer[i]));
    return task.score(prompt, canvas);
  };

  std::ofstream(path) << kTwo;
  const auto gsm8k = make(
      "gsm8k", "path = " + path + "\nfew_shot = 1\nexamples = " + path + "\nanswer_tokens = 40\n");
  gsm8k->load(&letters);
  REQUIRE(gsm8k->size() == 2);
  CHECK(gsm8k->prompt(0).length == gsm8k->prompt(0).offset + 40);
  CHECK(scores(*gsm8k, 1, "It is \\boxed{1007}\x04")[0].value == 1);
  CHECK(scores(*gsm8k, 1, "#### 7\x04")[0].value == 0);
  CHECK(scores(*gsm8k, 1, "no idea\x04")[1].value == 0);
  CHECK(gsm8k->text(gsm8k->prompt(0), [&] {
    Canvas canvas(gsm8k->prompt(0).length, gsm8k->prompt(0).given);
    const std::string answer = " So 7.\n\nQuestion: And";
    for (std::size_t i = 0; i < answer.size(); ++i)
      canvas.commit(gsm8k->prompt(0).offset + static_cast<std::int32_t>(i),
                    static_cast<Token>(answer[i]));
    return canvas;
  }()) == " So 7.");
  CHECK_THROWS_AS(make("gsm8k", "")->load(&letters), ConfigError);
  CHECK_THROWS_AS(make("gsm8k", "path = a\nfew_shot = 2\n")->load(&letters), ConfigError);
  CHECK_THROWS_AS(
      make("gsm8k", "path = " + path + "\nfew_shot = 3\nexamples = " + path + "\n")->load(&letters),
      DataError);

  std::ofstream(path) << kMbpp;
  const auto mbpp = make("mbpp", "path = " + path + "\n");
  mbpp->load(&letters);
  REQUIRE(mbpp->size() == 1);
  CHECK(mbpp->prompt(0).text == "def add(a, b):\n  return a + b\n[DONE]");
  REQUIRE(scores(*mbpp, 0, "[BEGIN]def add(a, b): pass\x04").size() == 1);  // Nothing runs.
  CHECK(scores(*mbpp, 0, "[BEGIN]def add(a, b): pass\x04")[0].value == 1);
  CHECK(mbpp->prompt(0).reference.size() == static_cast<std::size_t>(mbpp->prompt(0).length));
  CHECK_THROWS_AS(make("mbpp", "path = " + path + "\nskip = 1\n")->load(&letters), DataError);
  CHECK_THROWS_AS(make("mbpp", "path = " + path + "\npython = /nowhere/python\n")->load(&letters),
                  ConfigError);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace draftlab
