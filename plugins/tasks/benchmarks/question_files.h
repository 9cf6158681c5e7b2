// Reads the questions of a public benchmark, one JSON object a line, chooses which of them are
// asked, and makes a prompt of a question.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/options.h"
#include "core/parts/task.h"

namespace draftlab {

struct FileQuestion {
  std::string id, text, answer;
  // MBPP has assertions, HumanEval its check as it is called, and IFEval instructions, each a JSON
  // object.
  std::vector<std::string> tests;
  std::string setup;         // What MBPP runs before them, or the name of HumanEval's function.
  std::string behind = {};   // What follows the answer in HumanEval's infilling.
  std::string subject = {};  // The part of MATH that the question belongs to.
  std::vector<std::string> choices = {};
};

// Each of these functions reads its benchmark's JSON lines, or one array of the same objects. They
// throw DataError naming the line.
//
// GSM8K has `question` and `answer`. Annotations such as <<3+4=7>> are left out.
std::vector<FileQuestion> parse_gsm8k(const std::string& text, const std::string& name);
// MATH: `problem`, `solution`; the subject, where one is said, under `type` or `subject`.
std::vector<FileQuestion> parse_math(const std::string& text, const std::string& name);
// MBPP has `task_id`, `text` (sanitized: `prompt`), `code`, `test_list` and `test_setup_code`
// (sanitized: `test_imports`).
std::vector<FileQuestion> parse_mbpp(const std::string& text, const std::string& name);
// HumanEval has `task_id`, `prompt`, `canonical_solution`, `test` and `entry_point`; infilling has
// `suffix`, too.
std::vector<FileQuestion> parse_human_eval(const std::string& text, const std::string& name);
// IFEval has `key`, `prompt`, `instruction_id_list` and `kwargs`. The instructions that are
// returned carry their kind under `instruction`.
std::vector<FileQuestion> parse_ifeval(const std::string& text, const std::string& name);

// Which questions of a file are asked.
enum class Subset { first, shuffled };
constexpr std::array<std::string_view, 2> words(Subset) { return {"first", "shuffled"}; }

// How turns are marked; by what the tokenizer has where it is `model`.
enum class Chat { plain, model, chatml, headers, roles };
constexpr std::array<std::string_view, 5> words(Chat) {
  return {"plain", "model", "chatml", "headers", "roles"};
}

struct QuestionFileOptions {
  std::string path, examples, system, instruction, turn = "Question: {question}\\nAnswer: {answer}";
  Subset subset = Subset::first;
  Chat chat = Chat::plain;
  double share = 0;
  std::int64_t count = 0, few_shot = 0, subset_seed = 42, answer_tokens = 256, skip = 0,
               skip_examples = 0;
  bool begin = true;
  void declare(OptionSet& set);
};

// Returns indices of `total` questions in ascending order, with the first `skip` left out: the
// first `count` (0: all), or the first `count` of a shuffle, sorted again. The shuffle is that of
// Python's random.Random(seed).shuffle, by which S2D2's authors chose theirs.
std::vector<int> chosen_questions(int total, const QuestionFileOptions& options);

// Of the chosen questions, the first of each subject that make up `share` of it, rounded up: what
// lm-eval's --limit takes of each of a benchmark's tasks.
std::vector<int> share_of_subjects(const std::vector<int>& chosen,
                                   const std::vector<FileQuestion>& questions, double share);

// A question and the answer that its asker would like, as they stand in a prompt.
struct Turn {
  std::string question, answer;
};
// Writes system text, examples and question up to where the answer begins. Plain prompts have turns
// as `options.turn` writes them, with two line ends between.
std::string prompt_text(const QuestionFileOptions& options, const Tokenizer& tokenizer,
                        const std::vector<Turn>& examples, const std::string& question);
// Returns how a plain answer goes on when it begins another turn instead of ending, and "" where
// turns begin with no text of their own.
std::string next_turn(const QuestionFileOptions& options);

}  // namespace draftlab
