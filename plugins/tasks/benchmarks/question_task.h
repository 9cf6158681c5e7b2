// The base of the tasks that ask the questions of a file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plugins/tasks/benchmarks/question_files.h"
#include "plugins/tasks/listed_task.h"

namespace draftlab {

class QuestionTask : public ListedTask {
 public:
  QuestionTask(std::string name, const QuestionFileOptions& options)
      : ListedTask(std::move(name)), options_(options) {}
  void load(const Tokenizer* tokenizer) override;
  // Returns the answer up to its end token, or up to where it begins something else.
  std::string text(const Prompt& prompt, const Canvas& canvas) const override;

 protected:
  virtual std::vector<FileQuestion> parse(const std::string& text,
                                          const std::string& name) const = 0;
  // Says how a question is put, and what its asker would like to hear.
  virtual Turn turn(const FileQuestion& question) const { return {question.text, question.answer}; }
  // Returns the texts that end a plain answer.
  virtual std::vector<std::string> until() const { return {next_turn(options_)}; }
  // Makes the canvas of a question; by default it has the prompt's text, then `answer_tokens`
  // positions.
  virtual Prompt canvas_of(const FileQuestion& question, const std::vector<Turn>& examples) const;

  const FileQuestion& question(const Prompt& prompt) const { return questions_.at(prompt.id); }

 private:
  QuestionFileOptions options_;
  // The questions by prompt id.
  std::map<std::string, FileQuestion> questions_;
};

}  // namespace draftlab
