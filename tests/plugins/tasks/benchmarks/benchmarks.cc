// The tasks that read benchmarks' files: what a line becomes, and what an answer is worth.
#include <doctest/doctest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include "core/base/documents.h"
#include "core/base/error.h"
#include "core/config/config.h"
#include "core/config/plugin.h"
#include "plugins/builtin.h"
#include "plugins/tasks/benchmarks/hellaswag_text.h"
#include "plugins/tasks/benchmarks/math_answers.h"
#include "plugins/tasks/benchmarks/python_runs.h"
#include "plugins/tasks/benchmarks/question_files.h"
#include "plugins/tasks/benchmarks/white_space_map.h"
#include "tests/plugins/tasks/benchmarks/python_at_hand.h"
#include "tests/plugins/tasks/bytes.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

struct File {
  std::string path;
  File(const std::string& name, const std::string& text)
      : path((fs::temp_directory_path() / ("draftlab_" + std::to_string(getpid()) + "_" + name))
                 .string()) {
    std::ofstream(path) << text;
  }
  ~File() { fs::remove(path); }
};

std::unique_ptr<Task> made(const std::string& name, const std::string& options) {
  static const Registries registries = [] {
    Registries all;
    register_builtin_plugins(all);
    return all;
  }();
  Diagnostics diagnostics;
  const Config config = Config::parse("[task." + name + "]\n" + options, "test.ini", diagnostics);
  const auto bound = registries.tasks.find(name)->bind(config, "task." + name, diagnostics);
  diagnostics.raise();
  return bound.make();
}

// What a task says of a text at the masked positions; the separator ends it where it is shorter.
std::map<std::string, double> scores(const Task& task, int index, const std::string& answer) {
  const Prompt prompt = task.prompt(index);
  Canvas canvas(prompt.length, prompt.given);
  std::vector<Token> tokens = Bytes().encode(answer);
  const std::vector<std::int32_t> open = canvas.masked_positions();
  tokens.resize(open.size(), 256);
  for (std::size_t i = 0; i < open.size(); ++i) canvas.commit(open[i], tokens[i]);
  std::map<std::string, double> named;
  for (const Score& score : task.score(prompt, canvas)) named[score.name] = score.value;
  return named;
}

TEST_CASE("MATH: what an answer is, and when two are the same") {
  CHECK(math_answer("so \\boxed{1} or rather \\boxed{\\frac{1}{2}}.") == "\\frac{1}{2}");
  CHECK(math_answer("thus $\\boxed 7$.") == "7");
  CHECK(math_answer("\\fbox{x^{2}}") == "x^{2}");
  CHECK(math_answer("Final Answer: The final answer is $12$. I hope it is correct.") == "12");
  CHECK_FALSE(math_answer("\\boxed{1").has_value());
  CHECK_FALSE(math_answer("seven").has_value());
  const auto same = [](const std::string& a, const std::string& b) {
    return plain_math(a) == plain_math(b);
  };
  CHECK(plain_math("\\dfrac12") == "\\frac{1}{2}");
  CHECK(same("\\frac{1}{2}", "0.5"));
  CHECK(same("1/2", "\\tfrac{1}{2}"));
  CHECK(same("\\sqrt3", "\\sqrt{3}"));
  CHECK(same("\\frac{\\sqrt3}2", "\\frac{\\sqrt{3}}{2}"));
  CHECK(same("x = 5", "5"));
  CHECK(same("\\left( 1, 2 \\right)", "(1,2)"));
  CHECK(same("90^\\circ", "90"));
  CHECK(same("10\\%", "10"));
  CHECK(same("5\\text{ cm}", "5"));
  CHECK(same("\\text{East}", "East"));
  CHECK(same(".25", "0.25"));
  CHECK_FALSE(same("\\frac{1}{3}", "\\frac{3}{1}"));
  CHECK_FALSE(same("12", "21"));
}

TEST_CASE("task math") {
  const File file(
      "math.jsonl",
      R"({"problem": "What is $1+1$?", "solution": "It is $\\boxed{2}$.", "level": "Level 1"})"
      "\n");
  const auto task = made("math", "path = " + file.path + "\nanswer_tokens = 80\n");
  const Bytes bytes;
  task->load(&bytes);
  CHECK(given(*task, 0) == "Problem:\nWhat is $1+1$?\n\nSolution:");
  CHECK(scores(*task, 0, "Hence \\boxed{2}.")["correct"] == 1);
  CHECK(scores(*task, 0, "Hence \\boxed{3}.")["correct"] == 0);
  CHECK(scores(*task, 0, "Hence \\boxed{2}.\n\nProblem:\nx\\boxed{3}")["correct"] ==
        1);  // What follows is another turn.
  CHECK(scores(*task, 0, "Two.")["extracted"] == 0);
  const File bad("bad.jsonl", R"({"problem": "?", "solution": "two"})");
  CHECK_THROWS_AS(made("math", "path = " + bad.path + "\n")->load(&bytes), DataError);
}

const std::string kAdd =
    R"({"task_id": "T/0", "prompt": "import math\n\ndef add(a, b):\n    \"\"\"Adds.\"\"\"\n", )"
    R"("entry_point": "add", "canonical_solution": "    return a + b\n", )"
    R"("test": "def check(f):\n    assert f(1, 2) == 3\n    assert math"})";

TEST_CASE("task human-eval: completions stand below the head, whole functions below its imports") {
  const Bytes bytes;
  const File file("he.jsonl", kAdd);
  const auto plain =
      made("human-eval",
           "path = " + file.path +
               (testing::runs_python() ? std::string("\npython = ") + testing::kPython : "") +
               "\nanswer_tokens = 100\n");
  plain->load(&bytes);
  CHECK(given(*plain, 0) == "import math\n\ndef add(a, b):\n    \"\"\"Adds.\"\"\"\n");
  CHECK(plain->prompt(0).text == "    return a + b\n");
  const auto chat =
      made("human-eval",
           "path = " + file.path + "\nchat = chatml" +
               (testing::runs_python() ? std::string("\npython = ") + testing::kPython : "") +
               "\nanswer_tokens = 100\n");
  chat->load(&bytes);
  CHECK(given(*chat, 0) ==
        "<|im_start|>user\nComplete the following python code:\nimport math\n\ndef add(a, b):\n    "
        "\"\"\"Adds.\"\"\"\n<|im_end|>\n<|im_start|>assistant\n");
  if (!testing::runs_python()) return;
  CHECK(scores(*plain, 0, "    return a + b\n")["correct"] == 1);
  CHECK(scores(*plain, 0, "    return a + b\ndef more(:")["correct"] ==
        1);  // The text is cut where another function begins.
  CHECK(scores(*plain, 0, "    return a - b\n")["correct"] == 0);
  CHECK(scores(*plain, 0, "    import sys; sys.exit(0)\n")["correct"] == 0);
  CHECK(scores(*chat, 0,
               "Sure:\n```python\ndef add(a, b):\n    return a + b\n```\nDone.")["correct"] == 1);
  CHECK(scores(*chat, 0, "```python\n    return a + b\n```")["correct"] == 1);
  CHECK(scores(*chat, 0, "I cannot.")["correct"] == 0);
}

TEST_CASE("task code-infill: between what precedes and what follows, as long as what stood there") {
  const Bytes bytes;
  const File file("infill.jsonl",
                  R"({"task_id": "S/0", "prompt": "def add(a, b):\n", "suffix": "    return c\n", )"
                  R"("entry_point": "add", "canonical_solution": "    c = a + b\n", )"
                  R"("test": "def check(f):\n    assert f(1, 2) == 3"})");
  const auto task = made(
      "code-infill",
      "path = " + file.path +
          (testing::runs_python() ? std::string("\npython = ") + testing::kPython : "") + "\n");
  task->load(&bytes);
  const Prompt prompt = task->prompt(0);
  CHECK(prompt.length == 15 + 14 + 13);
  CHECK(prompt.given.size() == 28);
  CHECK(scores(*task, 0, "    c = a + b\n")["exact_match"] == 1);
  if (!testing::runs_python()) return;
  CHECK(scores(*task, 0, "    c = a + b\n")["correct"] == 1);
  CHECK(scores(*task, 0, "    c = b + a\n")["correct"] == 1);
  CHECK(scores(*task, 0, "    c = a - b\n")["correct"] == 0);
}

TEST_CASE("XLNet's white space: line ends, tabs and pairs of spaces are special tokens") {
  const Bytes bytes;
  const std::string code = "def f(x):\n\tif x:\n    return x\n";
  const std::vector<Token> tokens = encode_code(bytes, code);
  CHECK(decode_code(bytes, tokens) == code);
  CHECK(encode_code(bytes, "a\n    b\tc") == std::vector<Token>{'a', 3, 0, 0, 'b', 4, 'c'});
  CHECK(encode_code(bytes, "   ") == std::vector<Token>{0, ' '});  // Three spaces are never <pad>.
  CHECK(decode_code(bytes, {5, 'a'}) == "   a");
}

TEST_CASE("task lambada: the last word, as many tokens as it has") {
  const Bytes bytes;
  const File file("lambada.jsonl", R"({"text": "he said  that\nhe was sorry \n"})");
  const auto task = made("lambada", "path = " + file.path + "\n");
  task->load(&bytes);
  CHECK(given(*task, 0) == "he said that he was");
  CHECK(task->prompt(0).length == 19 + 6);
  CHECK(scores(*task, 0, " sorry")["correct"] == 1);
  CHECK(scores(*task, 0, " Sorry")["correct"] == 0);
  const File bad("one.jsonl", R"({"text": "word"})");
  CHECK_THROWS_AS(made("lambada", "path = " + bad.path + "\n")->load(&bytes), DataError);
}

TEST_CASE("task hellaswag: four choices of their own lengths") {
  const Bytes bytes;
  CHECK(without_brackets("Wash [header] it [title] Then [step] dry  it.") ==
        "Wash it. Then dry it.");
  const File file("hella.jsonl",
                  R"({"activity_label": "Skiing", "ctx_a": "A man stands.", "ctx_b": "he", )"
                  R"("endings": ["falls.", "skis [x] away.", "eats.", "is."], "label": 1})");
  const auto task = made("hellaswag", "path = " + file.path + "\n");
  task->load(&bytes);
  CHECK(given(*task, 0) == "Skiing: A man stands. He");
  const Prompt prompt = task->prompt(0);
  REQUIRE(prompt.choices.size() == 4);
  CHECK(Bytes().decode(prompt.choices[1]) == " skis away.");
  CHECK(prompt.length == 24 + 11);
  const auto chosen = [&](std::size_t choice) {
    Canvas canvas(prompt.length, prompt.given);
    for (std::size_t i = 0; i < prompt.choices[choice].size(); ++i)
      canvas.commit(prompt.offset + static_cast<std::int32_t>(i), prompt.choices[choice][i]);
    return task->score(prompt, canvas)[0].value;
  };
  CHECK(chosen(1) == 1);
  CHECK(chosen(0) == 0);
  CHECK(parse_hellaswag(
            R"({"activity_label": "a", "ctx_a": "b", "ctx_b": "", "endings": ["1","2","3","4"], )"
            R"("label": "3"})",
            "x")[0]
            .label == 3);
  CHECK_THROWS_AS(
      parse_hellaswag(
          R"({"activity_label": "a", "ctx_a": "b", "ctx_b": "", "endings": ["1"], "label": 0})",
          "x"),
      DataError);
  CHECK_THROWS_AS(
      parse_hellaswag(
          R"({"activity_label": "a", "ctx_a": "b", "ctx_b": "", "endings": ["1","2","3","4"], )"
          R"("label": 4})",
          "x"),
      DataError);
}

TEST_CASE("task ifeval: scores are those of the instructions that can be checked") {
  const Bytes bytes;
  const File file(
      "ifeval.jsonl",
      R"({"key": 1, "prompt": "Write.", "instruction_id_list": ["punctuation:no_comma", )"
      R"("language:response_language", "startend:quotation"], "kwargs": [{}, )"
      R"({"language": "de"}, {}]})");
  const auto task = made("ifeval", "path = " + file.path + "\nanswer_tokens = 30\n");
  task->load(&bytes);
  CHECK(given(*task, 0) == "Write.\n");
  auto both = scores(*task, 0, "\"yes\"");
  CHECK(both["correct"] == 1);
  CHECK(both["checked"] == 2);
  auto one = scores(*task, 0, "yes");
  CHECK(one["correct"] == 0);
  CHECK(one["followed"] == 0.5);
  CHECK(scores(*task, 0, "*\"yes\"*")["correct_loose"] == 1);
  const File bad(
      "ifbad.jsonl",
      R"({"key": 1, "prompt": "Write.", "instruction_id_list": ["punctuation:no_comma"], )"
      R"("kwargs": []})");
  CHECK_THROWS_AS(made("ifeval", "path = " + bad.path + "\n")->load(&bytes), DataError);
}

TEST_CASE("a file packed by gzip is read as what it holds") {
  const std::string path =
      (fs::temp_directory_path() / ("draftlab_" + std::to_string(getpid()) + ".jsonl.gz")).string();
  const gzFile packed = gzopen(path.c_str(), "wb");
  gzwrite(packed, "{\"a\": 1}\n", 9);
  gzclose(packed);
  CHECK(read_utf8(path) == "{\"a\": 1}\n");
  CHECK_THROWS_AS(read_utf8(path, 5), DataError);
  const auto size = fs::file_size(path);
  fs::resize_file(path, size - 4);
  CHECK_THROWS_AS(read_utf8(path), DataError);
  fs::remove(path);
}

// The public files are not part of the project; where they lie beside it, or at DRAFTLAB_DATA,
// every question of them is read, and the worked answers are right by the tasks' own scores.
TEST_CASE("the published files of GSM8K, MBPP and HumanEval" * doctest::test_suite("published")) {
  const char* named = std::getenv("DRAFTLAB_DATA");
  const fs::path data = named ? fs::path(named) : fs::path(DRAFTLAB_SOURCE_DIR) / "../shared/data";
  const Bytes bytes;
  const auto check = [&](const std::string& name, const std::string& file,
                         const std::string& options, int questions, const std::string& score,
                         int checked) {
    if (!fs::exists(data / file)) {
      std::cout << "there is no " << (data / file).string() << " (set DRAFTLAB_DATA); task " << name
                << " not tried with it\n";
      return;
    }
    const auto task =
        made(name, "path = " + (data / file).string() + "\nanswer_tokens = 4096\n" + options);
    task->load(&bytes);
    CHECK(task->size() == questions);
    if (score == "correct" && options.find("python") != std::string::npos &&
        !testing::runs_python())
      return;
    for (int i = 0; i < checked; ++i) {
      CAPTURE(task->prompt(i).id);
      CHECK(scores(*task, i, task->prompt(i).text)[score] == 1);
    }
  };
  const std::string python = testing::runs_python()
                                 ? std::string("seconds = 60\npython = ") + testing::kPython + "\n"
                                 : "";
  check("gsm8k", "gsm8k/test.jsonl", "", 1319, "correct", 1319);
  check("mbpp", "mbpp/mbpp.jsonl", python + "skip = 10\ncount = 500\n", 500,
        python.empty() ? "extracted" : "correct", 500);
  check("mbpp", "mbpp/sanitized-mbpp.json", python, 427, python.empty() ? "extracted" : "correct",
        100);
  check("human-eval", "humaneval/HumanEval.jsonl.gz", python, 164,
        python.empty() ? "extracted" : "correct", 164);
}

TEST_CASE("the published file of single-line infilling" * doctest::test_suite("published")) {
  const char* named = std::getenv("DRAFTLAB_DATA");
  const fs::path file =
      (named ? fs::path(named) : fs::path(DRAFTLAB_SOURCE_DIR) / "../shared/data") /
      "humaneval-infilling/HumanEval-SingleLineInfilling.jsonl.gz";
  if (!fs::exists(file)) {
    std::cout << "there is no " << file.string()
              << " (set DRAFTLAB_DATA); task code-infill not tried with it\n";
    return;
  }
  const Bytes bytes;
  const auto task =
      made("code-infill",
           "path = " + file.string() + "\n" +
               (testing::runs_python() ? std::string("python = ") + testing::kPython + "\n" : ""));
  task->load(&bytes);
  CHECK(task->size() == 1033);
  int behind = 0;
  for (const FileQuestion& question : parse_human_eval(read_utf8(file.string()), "x"))
    behind += question.behind.empty();
  CHECK(behind == 156);  // The number was counted for the facts about the authors' evaluation.
  if (testing::runs_python())
    for (int i = 0; i < 1033; i += 250)
      CHECK(scores(*task, i, task->prompt(i).text)["correct"] == 1);
}

}  // namespace
}  // namespace draftlab
