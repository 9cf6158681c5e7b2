#include "plugins/tasks/benchmarks/question_task.h"

#include <algorithm>

#include "core/base/documents.h"
#include "core/base/error.h"
#include "plugins/tasks/answers.h"
#include "plugins/tasks/prompts.h"

namespace draftlab {

void QuestionTask::load(const Tokenizer* tokenizer) {
  if (options_.path.empty())
    throw ConfigError("task.{}.path must name the file of questions (data/README.md says which)",
                      name());
  start(tokenizer);
  if (options_.few_shot > 0 && options_.examples.empty())
    throw ConfigError("task.{}.few_shot needs task.{}.examples, a file to take them from", name(),
                      name());
  questions_.clear();
  std::vector<Turn> examples;
  if (options_.few_shot > 0) {
    const std::vector<FileQuestion> all = parse(read_utf8(options_.examples), options_.examples);
    const std::int64_t last = options_.skip_examples + options_.few_shot;
    if (static_cast<std::int64_t>(all.size()) < last)
      throw DataError("'{}' has {} questions, task.{} asks for {} to take its examples from",
                      options_.examples, all.size(), name(), last);
    for (std::int64_t i = options_.skip_examples; i < last; ++i)
      examples.push_back(turn(all[static_cast<std::size_t>(i)]));
  }
  const std::vector<FileQuestion> questions = parse(read_utf8(options_.path), options_.path);
  std::vector<int> chosen = chosen_questions(static_cast<int>(questions.size()), options_);
  if (options_.share > 0) chosen = share_of_subjects(chosen, questions, options_.share);
  for (const int index : chosen) {
    const FileQuestion& question = questions[static_cast<std::size_t>(index)];
    Prompt prompt = canvas_of(question, examples);
    questions_[prompt.id] = question;
    add(std::move(prompt));
  }
  if (size() == 0)
    throw DataError("'{}' has no question beyond the {} that task.{}.skip leaves out",
                    options_.path, options_.skip, name());
}

Prompt QuestionTask::canvas_of(const FileQuestion& question,
                               const std::vector<Turn>& examples) const {
  const Turn asked = turn(question);
  return question_prompt(
      {name() + "-" + question.id, prompt_text(options_, tokenizer(), examples, asked.question),
       asked.answer},
      {options_.answer_tokens, options_.begin}, tokenizer());
}

std::string QuestionTask::text(const Prompt& prompt, const Canvas& canvas) const {
  std::string text = answer_text(tokenizer(), prompt, canvas);
  if (options_.chat == Chat::plain)
    for (const std::string& end : until())
      if (!end.empty()) text.resize(std::min(text.size(), text.find(end)));
  return text;
}

}  // namespace draftlab
