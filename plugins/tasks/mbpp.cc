// Task `mbpp`: short Python programs of MBPP's JSONL. What is decoded runs only where `python` names an interpreter; it then
// runs with limits on time and memory, but sees the machine's files.
#include <map>

#include "core/error.h"
#include "core/plugin.h"
#include "plugins/builtin.h"
#include "plugins/tasks/answers.h"
#include "plugins/tasks/documents.h"
#include "plugins/tasks/python_runs.h"
#include "plugins/tasks/question_files.h"

namespace draftlab {
namespace {

// As MBPP's authors ask.
std::string asked(const FileQuestion& question) {
  std::string text = "You are an expert Python programmer, and here is your task: " + question.text + " Your code should pass these tests:\n";
  for (const std::string& test : question.tests) text += "\n" + test;
  return text;
}
std::string answered(const FileQuestion& question) { return "[BEGIN]\n" + question.answer + "\n[DONE]"; }

class Mbpp final : public Task {
 public:
  struct Options : QuestionFileOptions {
    std::string python;
    std::int64_t seconds = 5, megabytes = 512;
    void declare(OptionSet& set) {
      QuestionFileOptions::declare(set);
      set.add("python", &python).help("interpreter that runs what was decoded with its tests, such as /usr/bin/python3; empty: nothing runs, and there is no score `correct`");
      set.add("seconds", &seconds).in(1, 3600).help("that one run may take");
      set.add("megabytes", &megabytes).in(16, 1 << 20).help("that one run may take");
    }
  };
  explicit Mbpp(const Options& options) : options_(options) {}

  void load(const Tokenizer* tokenizer) override {
    if (!tokenizer) throw ConfigError("task 'mbpp' decodes text, but the model has no tokenizer");
    if (options_.path.empty()) throw ConfigError("task.mbpp.path must name MBPP's mbpp.jsonl or sanitized-mbpp.json");
    if (options_.few_shot > 0 && options_.examples.empty()) throw ConfigError("task.mbpp.few_shot needs task.mbpp.examples; MBPP's own are tasks 2 to 4");
    tokenizer_ = tokenizer;
    prompts_.clear();
    questions_.clear();
    digest_.clear();
    std::vector<Turn> examples;
    if (options_.few_shot > 0) {
      const std::vector<FileQuestion> all = parse_mbpp(read_utf8(options_.examples), options_.examples);
      if (static_cast<std::int64_t>(all.size()) < options_.few_shot)
        throw DataError("'" + options_.examples + "' has " + std::to_string(all.size()) + " questions, task.mbpp.few_shot asks for " + std::to_string(options_.few_shot));
      for (std::int64_t i = 0; i < options_.few_shot; ++i) examples.push_back({asked(all[static_cast<std::size_t>(i)]), answered(all[static_cast<std::size_t>(i)])});
    }
    const std::vector<FileQuestion> questions = parse_mbpp(read_utf8(options_.path), options_.path);
    for (int index : chosen_questions(static_cast<int>(questions.size()), options_)) {
      const FileQuestion& question = questions[static_cast<std::size_t>(index)];
      prompts_.push_back(question_prompt("mbpp-" + question.id, prompt_text(options_, examples, asked(question)), answered(question), *tokenizer,
                                         options_.answer_tokens, options_.begin));
      questions_[prompts_.back().id] = question;
      digest_ = digest_of(prompts_.back().reference, digest_);
    }
  }
  int size() const override { return static_cast<int>(prompts_.size()); }
  Prompt prompt(int index) const override { return prompts_.at(static_cast<std::size_t>(index)); }
  std::string digest() const override { return digest_; }
  std::string text(const Prompt& prompt, const Canvas& canvas) const override { return answer_text(*tokenizer_, prompt, canvas); }
  std::vector<Score> score(const Prompt& prompt, const Canvas& canvas) const override {
    const std::string code = extracted_code(text(prompt, canvas));
    std::vector<Score> scores{{"extracted", code.find("def ") != std::string::npos ? 1.0 : 0.0}};
    if (options_.python.empty()) return scores;
    const FileQuestion& question = questions_.at(prompt.id);
    std::string program = question.setup + "\n" + code + "\n";
    for (const std::string& test : question.tests) program += test + "\n";
    scores.push_back({"correct", python_succeeds(program, {options_.python, options_.seconds, options_.megabytes}) ? 1.0 : 0.0});
    return scores;
  }

 private:
  Options options_;
  std::vector<Prompt> prompts_;
  std::map<std::string, FileQuestion> questions_;  // by prompt
  std::string digest_;
  const Tokenizer* tokenizer_ = nullptr;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(mbpp) { registries.tasks.add<draftlab::Mbpp>("mbpp", "Python programs of MBPP's JSONL, scored by running their tests where an interpreter is named"); }
