// The task `programs` describes a function in a sentence, and asks for the function in a small
// language of the project's own (program_language.h). An answer is scored by what it does: it must
// pass tests, in an interpreter with limits.
#include "core/base/error.h"
#include "core/base/words.h"
#include "core/config/plugin.h"
#include "plugins/tasks/answers.h"
#include "plugins/tasks/listed_task.h"
#include "plugins/tasks/programs/program_tests.h"

namespace draftlab {
namespace {

class Programs final : public ListedTask {
 public:
  struct Options {
    ProgramSplit split = ProgramSplit::test;
    std::int64_t count = 1000, seed = 1, answer_tokens = 64, tests = 40, steps = 20000,
                 elements = 20000;
    bool begin = true;
    void declare(OptionSet& set) {
      set.add("split", &split)
          .help(
              "Split of the generated problems; they never share one: choose arms on tune, report "
              "on test.");
      set.add("count", &count).in(1, 20000).help("How many problems there are, all different.");
      set.add("seed", &seed)
          .help("Seed of the problems; no other seed changes a prompt or a test.");
      set.add("answer_tokens", &answer_tokens)
          .in(1, 1 << 16)
          .help(
              "Masked positions behind the question; what follows the first end of text is "
              "ignored.");
      set.add("tests", &tests)
          .in(2, 1000)
          .help("Calls that a program must all answer as the reference solution does.");
      set.add("steps", &steps)
          .in(1, 1e9)
          .help("Steps of the interpreter that one call may take; an endless loop fails by this.");
      set.add("elements", &elements)
          .in(1, 1e8)
          .help("List elements that one call may make; the memory limit.");
      set.add("begin", &begin)
          .help(
              "Every canvas begins with <s>, which is always given: what draftlab's trainer shows "
              "a model.");
    }
  };
  explicit Programs(const Options& options) : ListedTask("programs"), options_(options) {}

  void load(const Tokenizer* tokenizer) override {
    start(tokenizer);
    for (const TestedProgram& made :
         make_tested_programs(static_cast<std::uint64_t>(options_.seed), options_.count,
                              static_cast<int>(options_.tests), options_.split))
      add(asked(made.problem));
  }
  std::string text(const Prompt& prompt, const Canvas& canvas) const override {
    return answer_text(tokenizer(), prompt, canvas);
  }
  std::vector<Score> score(const Prompt& prompt, const Canvas& canvas) const override {
    const Program program = Program::parse(text(prompt, canvas));
    if (!program.ok()) return {{"correct", 0}, {"parses", 0}};
    const std::vector<ProgramTest> tests =
        make_program_tests(prompt.text, static_cast<int>(options_.tests));
    return {{"correct", passes(program, tests, {options_.steps, options_.elements}) ? 1.0 : 0.0},
            {"parses", 1}};
  }

 private:
  Prompt asked(const ProgramProblem& problem) const {
    const std::size_t least = tokenizer().encode(problem.answer).size() + 1;
    if (least > static_cast<std::size_t>(options_.answer_tokens))
      throw ConfigError(
          "task.programs.answer_tokens = {} must be at least {}: so many has '{}' with the end of "
          "text",
          options_.answer_tokens, least, problem.answer);
    Prompt prompt = question_prompt(
        {"programs-" + std::string(word(options_.split)) + "-" + std::to_string(size()),
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
