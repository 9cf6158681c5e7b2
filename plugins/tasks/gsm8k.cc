// Task `gsm8k`: grade-school problems of a JSONL file, scored by the number that the answer ends in.
#include <map>

#include "core/error.h"
#include "core/plugin.h"
#include "plugins/builtin.h"
#include "plugins/tasks/answers.h"
#include "plugins/tasks/arithmetic_problems.h"
#include "plugins/tasks/documents.h"
#include "plugins/tasks/question_files.h"

namespace draftlab {
namespace {

class Gsm8k final : public Task {
 public:
  using Options = QuestionFileOptions;
  explicit Gsm8k(const Options& options) : options_(options) {}

  void load(const Tokenizer* tokenizer) override {
    if (!tokenizer) throw ConfigError("task 'gsm8k' decodes text, but the model has no tokenizer");
    if (options_.path.empty()) throw ConfigError("task.gsm8k.path must name GSM8K's test.jsonl, or a file like it");
    if (options_.few_shot > 0 && options_.examples.empty()) throw ConfigError("task.gsm8k.few_shot needs task.gsm8k.examples, such as GSM8K's train.jsonl");
    tokenizer_ = tokenizer;
    prompts_.clear();
    wanted_.clear();
    digest_.clear();
    std::vector<Turn> examples;
    if (options_.few_shot > 0) {
      const std::vector<FileQuestion> all = parse_gsm8k(read_utf8(options_.examples), options_.examples);
      if (static_cast<std::int64_t>(all.size()) < options_.few_shot)
        throw DataError("'" + options_.examples + "' has " + std::to_string(all.size()) + " questions, task.gsm8k.few_shot asks for " + std::to_string(options_.few_shot));
      for (std::int64_t i = 0; i < options_.few_shot; ++i) examples.push_back({all[static_cast<std::size_t>(i)].text, all[static_cast<std::size_t>(i)].answer});
    }
    const std::vector<FileQuestion> questions = parse_gsm8k(read_utf8(options_.path), options_.path);
    for (int index : chosen_questions(static_cast<int>(questions.size()), options_)) {
      const FileQuestion& question = questions[static_cast<std::size_t>(index)];
      const auto number = final_number(question.answer);
      if (!number) throw DataError("'" + options_.path + "' question " + std::to_string(index) + " has no number after #### in its answer");
      prompts_.push_back(question_prompt("gsm8k-" + question.id, prompt_text(options_, examples, question.text), question.answer, *tokenizer,
                                         options_.answer_tokens, options_.begin));
      wanted_[prompts_.back().id] = *number;
      digest_ = digest_of(prompts_.back().reference, digest_);
    }
  }
  int size() const override { return static_cast<int>(prompts_.size()); }
  Prompt prompt(int index) const override { return prompts_.at(static_cast<std::size_t>(index)); }
  std::string digest() const override { return digest_; }
  std::string text(const Prompt& prompt, const Canvas& canvas) const override { return answer_text(*tokenizer_, prompt, canvas); }
  std::vector<Score> score(const Prompt& prompt, const Canvas& canvas) const override {
    const auto number = final_number(text(prompt, canvas));
    return {{"correct", number == wanted_.at(prompt.id) ? 1.0 : 0.0}, {"extracted", number ? 1.0 : 0.0}};
  }

 private:
  Options options_;
  std::vector<Prompt> prompts_;
  std::map<std::string, std::string> wanted_;  // by prompt
  std::string digest_;
  const Tokenizer* tokenizer_ = nullptr;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(gsm8k) { registries.tasks.add<draftlab::Gsm8k>("gsm8k", "problems of GSM8K's JSONL, few-shot or with a system prompt, scored by their last number"); }
