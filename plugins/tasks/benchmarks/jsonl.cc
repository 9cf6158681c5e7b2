// The task `jsonl` asks the questions of any file of JSON objects, so that a benchmark needs no
// C++: templates say which fields make the question and the answer, and one of five scorers
// compares.
#include <algorithm>
#include <array>
#include <optional>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "core/metrics/text_metrics.h"
#include "plugins/tasks/benchmarks/field_template.h"
#include "plugins/tasks/benchmarks/python_runs.h"
#include "plugins/tasks/benchmarks/question_task.h"
#include "plugins/tasks/final_number.h"
#include "plugins/tokenizers/pattern.h"

namespace draftlab {
namespace {

enum class Scorer { exact, number, regex, program, choice };
constexpr std::array<std::string_view, 5> words(Scorer) {
  return {"exact", "number", "regex", "program", "choice"};
}

class Jsonl final : public QuestionTask {
 public:
  struct Options : QuestionFileOptions {
    std::string question = "{question}", answer = "{answer}", pattern, tests = "tests",
                choices = "choices";
    Scorer scorer = Scorer::exact;
    PythonLimits limits;
    void declare(OptionSet& set) {
      QuestionFileOptions::declare(set);
      set.add("question", &question)
          .help("What is asked: a text in which {KEY} stands for the object's value under KEY.");
      set.add("answer", &answer)
          .help("The right answer, in the same way; of a program, a solution that works.");
      set.add("scorer", &scorer)
          .help(
              "exact: the same text. number: the same last number. regex: the same last match of "
              "`pattern`. program: passes `tests`. choice: the likeliest of `choices` is right.");
      set.add("pattern", &pattern)
          .help("The regular expression of scorer = regex (Oniguruma), such as (?<=#### )-?\\d+.");
      set.add("tests", &tests).help("The key that holds a program's tests, a list of texts.");
      set.add("choices", &choices)
          .help("The key of a list of texts; `answer` is one of them, or its index from 0.");
      limits.declare(set);
    }
  };
  explicit Jsonl(const Options& options) : QuestionTask("jsonl", options), options_(options) {}

  void load(const Tokenizer* tokenizer) override {
    if (options_.scorer == Scorer::regex && options_.pattern.empty())
      throw ConfigError("task.jsonl.scorer = regex needs task.jsonl.pattern");
    if (options_.scorer == Scorer::program && options_.limits.python.empty())
      throw ConfigError("task.jsonl.scorer = program needs task.jsonl.python, an interpreter");
    if (options_.scorer == Scorer::regex) pattern_.emplace(options_.pattern);
    QuestionTask::load(tokenizer);
    options_.limits.check("jsonl");
  }

  std::vector<Score> score(const Prompt& prompt, const Canvas& canvas) const override {
    const FileQuestion& asked = question(prompt);
    if (options_.scorer == Scorer::choice) return {{"correct", chose(asked, prompt, canvas)}};
    const std::string said = text(prompt, canvas);
    if (options_.scorer == Scorer::exact)
      return {{"correct", exact_match(asked.answer, said) ? 1.0 : 0.0}};
    if (options_.scorer == Scorer::program) return {{"correct", passes(asked, said) ? 1.0 : 0.0}};
    const std::optional<std::string> found = extracted(said);
    return {{"correct", found && found == extracted(asked.answer) ? 1.0 : 0.0},
            {"extracted", found ? 1.0 : 0.0}};
  }

 private:
  std::vector<FileQuestion> parse(const std::string& text, const std::string& name) const override {
    std::vector<FileQuestion> questions;
    for (const JsonObject& object : json_objects(text, name)) {
      FileQuestion question{std::to_string(questions.size()),
                            filled(options_.question, object, "task.jsonl.question"),
                            filled(options_.answer, object, "task.jsonl.answer"),
                            {},
                            {}};
      if (options_.scorer == Scorer::program) question.tests = object.texts(options_.tests);
      if (options_.scorer == Scorer::choice) choose(object, question);
      if (options_.scorer != Scorer::exact && !extracted(question.answer))
        throw DataError("{} has the answer '{}', in which scorer = {} finds nothing", object.where,
                        question.answer, words(Scorer{})[static_cast<int>(options_.scorer)]);
      questions.push_back(std::move(question));
    }
    return questions;
  }

  // Reads the choices, and makes the answer the text of the right one.
  void choose(const JsonObject& object, FileQuestion& question) const {
    question.choices = object.texts(options_.choices);
    const auto named = std::find(question.choices.begin(), question.choices.end(), question.answer);
    if (named != question.choices.end()) return;
    for (std::size_t i = 0; i < question.choices.size(); ++i)
      if (question.answer == std::to_string(i)) {
        question.answer = question.choices[i];
        return;
      }
    throw DataError(
        "{} has the answer '{}', which is neither one of its {} '{}' nor the index of one",
        object.where, question.answer, question.choices.size(), options_.choices);
  }

  Prompt canvas_of(const FileQuestion& question, const std::vector<Turn>& examples) const override {
    Prompt prompt = QuestionTask::canvas_of(question, examples);
    for (const std::string& choice : question.choices)
      prompt.choices.push_back(choice_tokens(choice));
    for (const std::vector<Token>& choice : prompt.choices)
      if (static_cast<std::int64_t>(choice.size()) > options_.answer_tokens)
        throw ConfigError(
            "task.jsonl.answer_tokens = {} is less than the {} tokens of a choice of "
            "question {}",
            options_.answer_tokens, choice.size(), question.id);
    return prompt;
  }

  // In a plain turn a space stands before the answer.
  std::vector<Token> choice_tokens(const std::string& choice) const {
    return tokenizer().encode((options_.chat == Chat::plain ? " " : "") + choice);
  }

  double chose(const FileQuestion& asked, const Prompt& prompt, const Canvas& canvas) const {
    std::vector<Token> chosen(canvas.tokens().begin() + prompt.offset, canvas.tokens().end());
    std::erase(chosen, kNoToken);
    return chosen == choice_tokens(asked.answer) ? 1 : 0;
  }

  bool passes(const FileQuestion& asked, const std::string& said) const {
    std::string tests;
    for (const std::string& test : asked.tests) tests += test + "\n";
    return python_succeeds({extracted_code(said) + "\n", "", asked.answer, tests}, options_.limits);
  }

  // Returns what of an answer is compared, and nothing where it has no such part.
  std::optional<std::string> extracted(const std::string& answer) const {
    if (options_.scorer == Scorer::number) return final_number(answer);
    if (options_.scorer != Scorer::regex) return answer;
    const std::vector<Range> found = pattern_->matches(answer);
    if (found.empty()) return {};
    return answer.substr(found.back().begin, found.back().end - found.back().begin);
  }

  Options options_;
  std::optional<Pattern> pattern_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(task, jsonl) {
  registries.tasks.add<draftlab::Jsonl>(
      "jsonl", "the questions of any JSONL file, scored by text, number, pattern, tests or choice");
}
