// The task `programs` describes a function in a sentence, and asks for the function in a small
// language of the project's own (program_language.h). An answer is scored by what it does: it must
// pass tests, in an interpreter with limits.
#include "core/base/error.h"
#include "core/base/words.h"
#include "core/config/plugin.h"
#include "plugins/tasks/answers.h"
#include "plugins/tasks/programs/program_task.h"

namespace draftlab {
namespace {

class Programs final : public ListedTask {
 public:
  struct Options : ProgramTaskOptions {
    std::int64_t answer_tokens = 64;
    void declare(OptionSet& set) {
      ProgramTaskOptions::declare(set);
      set.add("answer_tokens", &answer_tokens)
          .in(1, 1 << 16)
          .help(
              "Masked positions behind the question; what follows the first end of text is "
              "ignored.");
    }
  };
  explicit Programs(const Options& options) : ListedTask("programs"), options_(options) {}

  void load(const Tokenizer* tokenizer) override {
    start(tokenizer);
    make_when_asked(options_.count, [this, programs = options_.problems()](int i) mutable {
      return asked(programs.next().problem, i);
    });
  }
  std::string text(const Prompt& prompt, const Canvas& canvas) const override {
    return answer_text(tokenizer(), prompt, canvas);
  }
  std::vector<Score> score(const Prompt& prompt, const Canvas& canvas) const override {
    return options_.scores(text(prompt, canvas), prompt.text);
  }

 private:
  Prompt asked(const ProgramProblem& problem, int index) const {
    const std::size_t least = tokenizer().encode(problem.answer).size() + 1;
    if (least > static_cast<std::size_t>(options_.answer_tokens))
      throw ConfigError(
          "task.programs.answer_tokens = {} must be at least {}: so many has '{}' with the end of "
          "text",
          options_.answer_tokens, least, problem.answer);
    Prompt prompt = question_prompt(
        {"programs-" + std::string(word(options_.split)) + "-" + std::to_string(index),
         problem.question, problem.answer},
        {options_.answer_tokens, options_.begin}, tokenizer());
    // The text stays as it was written, whatever the vocabulary makes of it, because the tests are
    // made from it.
    prompt.text = problem.answer;
    return prompt;
  }

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(task, programs) {
  registries.tasks.add<draftlab::Programs>(
      "programs", "a sentence describes a function, which is written and must pass its tests");
}
