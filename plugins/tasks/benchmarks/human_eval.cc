// The task `human-eval` asks for the Python functions of HumanEval's JSONL, completed from their
// heads, or written in answer to a request.
#include "core/config/plugin.h"
#include "plugins/tasks/benchmarks/python_runs.h"
#include "plugins/tasks/benchmarks/question_task.h"

namespace draftlab {
namespace {

class HumanEval final : public QuestionTask {
 public:
  struct Options : QuestionFileOptions {
    PythonLimits limits;
    std::string request = "Complete the following python code:";
    Options() { turn = "{question}{answer}", answer_tokens = 512; }
    void declare(OptionSet& set) {
      QuestionFileOptions::declare(set);
      limits.declare(set);
      set.add("request", &request)
          .help("What a chat model is asked, above the head of the function.");
    }
  };
  explicit HumanEval(const Options& options)
      : QuestionTask("human-eval", options),
        chat_(options.chat != Chat::plain),
        request_(options.request),
        limits_(options.limits) {}

  void load(const Tokenizer* tokenizer) override {
    QuestionTask::load(tokenizer);
    limits_.check("human-eval");
  }
  std::vector<Score> score(const Prompt& prompt, const Canvas& canvas) const override {
    const FileQuestion& asked = question(prompt);
    const std::string answer = text(prompt, canvas), code = extracted_code(answer),
                      head = "def " + asked.setup + "(";
    // An answer that begins the function anew is put below what the head had above the function
    // (imports), and any other answer is put below the head.
    const bool anew = code.find(head) != std::string::npos;
    std::vector<Score> scores{{"extracted", anew || !chat_ ? 1.0 : 0.0}};
    if (limits_.python.empty()) return scores;
    const std::string program = anew ? asked.text.substr(0, asked.text.find(head)) + code
                                     : asked.text + (chat_ ? code : answer);
    const bool correct = python_succeeds(
        {program + "\n", asked.setup, asked.text + asked.answer + asked.behind, asked.tests[0]},
        limits_);
    scores.push_back({"correct", correct ? 1.0 : 0.0});
    return scores;
  }

 private:
  std::vector<FileQuestion> parse(const std::string& text, const std::string& name) const override {
    return parse_human_eval(text, name);
  }
  Turn turn(const FileQuestion& question) const override {
    if (!chat_) return {question.text, question.answer};
    return {request_ + "\n" + question.text,
            "```python\n" + question.text + question.answer + "```"};
  }
  // Codex's authors cut completions at these texts.
  std::vector<std::string> until() const override {
    return {"\nclass", "\ndef", "\n#", "\nif", "\nprint"};
  }

  bool chat_;
  std::string request_;
  PythonLimits limits_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(task, human_eval) {
  registries.tasks.add<draftlab::HumanEval>("human-eval",
                                            "Python functions of HumanEval's JSONL, scored by "
                                            "running their tests where an interpreter is named");
}
