// The task `program-infill` hides a line of a program that passes its tests: the sentence that asks
// for the function, the lines before and the lines behind are given, and the line has as many
// positions as it had (ASSD, Table 2, on generated programs). A line is one of Python's layout;
// which one is hidden is drawn, so that there is one prompt a program. The completed program is
// scored by what it does, as in the task `programs`.
#include "core/base/error.h"
#include "core/base/words.h"
#include "core/config/plugin.h"
#include "plugins/tasks/choices.h"
#include "plugins/tasks/programs/program_lines.h"
#include "plugins/tasks/programs/program_task.h"
#include "plugins/tasks/prompts.h"

namespace draftlab {
namespace {

class ProgramInfill final : public ListedTask {
 public:
  using Options = ProgramTaskOptions;
  explicit ProgramInfill(const Options& options)
      : ListedTask("program-infill"), options_(options) {}

  void load(const Tokenizer* tokenizer) override {
    start(tokenizer);
    make_when_asked(options_.count, [this, programs = options_.problems()](int i) mutable {
      return hidden(programs.next().problem, i);
    });
  }
  // Returns the whole program, in the middle of which stands what was decoded.
  std::string text(const Prompt& prompt, const Canvas& canvas) const override {
    return decoded_text(tokenizer(), prompt, canvas);
  }
  std::vector<Score> score(const Prompt& prompt, const Canvas& canvas) const override {
    std::vector<Score> scores = options_.scores(text(prompt, canvas), prompt.text);
    for (const Score& one : token_scores(prompt, canvas)) scores.push_back(one);
    return scores;
  }

 private:
  Prompt hidden(const ProgramProblem& problem, int index) const {
    const std::vector<std::string> lines = program_lines(problem.answer);
    Choices choices(stable_hash("line of " + problem.answer), 0, 0, 0);
    const std::size_t chosen = choices.of(working_lines(lines));
    Prompt prompt;
    const auto append = [&](const std::vector<Token>& tokens, bool given) {
      for (const Token token : tokens) {
        if (given)
          prompt.given.emplace_back(static_cast<std::int32_t>(prompt.reference.size()), token);
        prompt.reference.push_back(token);
      }
    };
    if (begins(tokenizer(), options_.begin)) append({tokenizer().begin()}, true);
    append(tokenizer().encode(problem.question), true);
    prompt.offset = static_cast<int>(prompt.reference.size());
    for (std::size_t i = 0; i < lines.size(); ++i)
      append(tokenizer().encode(lines[i]), i != chosen);
    prompt.length = static_cast<int>(prompt.reference.size());
    prompt.text = problem.answer;
    if (tokenizer().decode({prompt.reference.begin() + prompt.offset, prompt.reference.end()}) !=
        problem.answer)
      throw ConfigError("task 'program-infill' needs a tokenizer that writes '{}' as it stands",
                        problem.answer);
    prompt.id = prompt_id(
        "program-infill-" + std::string(word(options_.split)) + "-" + std::to_string(index),
        prompt);
    return prompt;
  }

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(task, program_infill) {
  registries.tasks.add<draftlab::ProgramInfill>(
      "program-infill", "a line of a program between its neighbours, scored by running its tests");
}
