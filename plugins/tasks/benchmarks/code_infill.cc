// The task `code-infill` asks for a line of a Python function between what precedes and what
// follows it, in as many tokens as it had (HumanEval's single-line infilling; ASSD, Table 2). The
// program that is run has the file's own text around what was decoded.
#include <algorithm>
#include <array>
#include <string_view>

#include "core/config/plugin.h"
#include "plugins/tasks/benchmarks/python_runs.h"
#include "plugins/tasks/benchmarks/question_task.h"
#include "plugins/tasks/benchmarks/white_space_map.h"
#include "plugins/tasks/prompts.h"

namespace draftlab {
namespace {

class CodeInfill final : public QuestionTask {
 public:
  struct Options : QuestionFileOptions {
    PythonLimits limits;
    WhiteSpace white_space = WhiteSpace::own;
    void declare(OptionSet& set) {
      set.add("path", &path)
          .help(
              "HumanEval-SingleLineInfilling.jsonl, or a file like it; a file whose name ends in "
              ".gz is unpacked.");
      set.add("count", &count).in(0, 1 << 24).help("Lines to fill in; 0: all.");
      set.add("subset", &subset)
          .help(
              "Which lines: the first of the file, or of a fixed shuffle of it, in the order of "
              "the file.");
      set.add("subset_seed", &subset_seed)
          .in(0, 4294967295.0)
          .help("Seed of the shuffle, which is that of Python's random.Random.");
      set.add("begin", &begin)
          .help(
              "Every canvas begins with <s>, where the tokenizer has one: what draftlab's trainer "
              "shows a model.");
      set.add("white_space", &white_space)
          .help(
              "White space as the tokenizer has it (own), or <cls>, <sep> and <unk> for line ends, "
              "tabs and two spaces (xlnet).");
      limits.declare(set);
    }
  };
  explicit CodeInfill(const Options& options)
      : QuestionTask("code-infill", options),
        mapped_(options.white_space == WhiteSpace::xlnet),
        begin_(options.begin),
        limits_(options.limits) {}

  void load(const Tokenizer* tokenizer) override {
    QuestionTask::load(tokenizer);
    limits_.check("code-infill");
  }
  std::string text(const Prompt&, const Canvas& canvas) const override {
    std::vector<Token> tokens;
    for (std::int32_t position = 0; position < canvas.length(); ++position)
      if (!canvas.given(position) && !canvas.masked(position))
        tokens.push_back(canvas.token(position));
    return mapped_ ? decode_code(tokenizer(), tokens) : tokenizer().decode(tokens);
  }
  std::vector<Score> score(const Prompt& prompt, const Canvas& canvas) const override {
    const FileQuestion& asked = question(prompt);
    const std::string line = text(prompt, canvas);
    std::vector<Score> scores{{"exact_match", line == asked.answer ? 1.0 : 0.0}};
    if (limits_.python.empty()) return scores;
    const auto around = [&](const std::string& text) { return asked.text + text + asked.behind; };
    const bool correct = python_succeeds(
        {around(line) + "\n", asked.setup, around(asked.answer), asked.tests[0]}, limits_);
    scores.push_back({"correct", correct ? 1.0 : 0.0});
    return scores;
  }

 private:
  std::vector<FileQuestion> parse(const std::string& text, const std::string& name) const override {
    return parse_human_eval(text, name);
  }
  Prompt canvas_of(const FileQuestion& question, const std::vector<Turn>&) const override {
    Prompt prompt{"code-infill-" + question.id, 0, {}, {}, question.answer, 0};
    const auto append = [&](const std::vector<Token>& tokens, bool given) {
      for (const Token token : tokens) {
        if (given)
          prompt.given.emplace_back(static_cast<std::int32_t>(prompt.reference.size()), token);
        prompt.reference.push_back(token);
      }
    };
    const auto encoded = [&](const std::string& text) {
      return mapped_ ? encode_code(tokenizer(), text) : tokenizer().encode(text);
    };
    if (begins(tokenizer(), begin_)) append({tokenizer().begin()}, true);
    append(encoded(question.text), true);
    append(encoded(question.answer), false);
    append(encoded(question.behind), true);
    prompt.length = static_cast<int>(prompt.reference.size());
    prompt.id = prompt_id(prompt.id, prompt);
    return prompt;
  }

  bool mapped_, begin_;
  PythonLimits limits_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(task, code_infill) {
  registries.tasks.add<draftlab::CodeInfill>("code-infill",
                                             "a line of Python between its neighbours (HumanEval's "
                                             "single-line infilling), scored by running its tests");
}
