// Questions of a public benchmark, one JSON object a line: which of them are asked, and how a question becomes a prompt.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/options.h"

namespace draftlab {

struct FileQuestion {
  std::string id, text, answer;
  std::vector<std::string> tests;  // MBPP: assertions
  std::string setup;               // and what runs before them
};

// GSM8K: `question`, `answer`. Annotations such as <<3+4=7>> are left out.
std::vector<FileQuestion> parse_gsm8k(const std::string& text, const std::string& name);
// MBPP: `task_id`, `text` (sanitized: `prompt`), `code`, `test_list`, `test_setup_code` (sanitized: `test_imports`). The sanitized
// edition, which is one JSON array, is read too.
std::vector<FileQuestion> parse_mbpp(const std::string& text, const std::string& name);

struct QuestionFileOptions {
  std::string path, examples, subset = "first", system, instruction, chat = "plain";
  std::int64_t count = 0, few_shot = 0, subset_seed = 42, answer_tokens = 256;
  bool begin = true;
  void declare(OptionSet& set);
};

// Indices of `total` questions, ascending: the first `count` (0: all), or the first `count` of a shuffle, sorted again. The
// shuffle is that of Python's random.Random(seed).shuffle, by which S2D2's authors chose theirs.
std::vector<int> chosen_questions(int total, const QuestionFileOptions& options);
std::vector<int> python_shuffle(int total, std::uint32_t seed);

// A question and the answer that its asker would like, as they stand in a prompt.
struct Turn { std::string question, answer; };
// plain: "Question: ...\nAnswer: ..." a turn, the last without its answer; chatml: the markup of the Qwen models.
std::string prompt_text(const QuestionFileOptions& options, const std::vector<Turn>& examples, const std::string& question);

}  // namespace draftlab
