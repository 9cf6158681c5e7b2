// The task `mbpp` asks for the short Python programs of MBPP's JSONL. What is decoded runs only
// where `python` names an interpreter, in a sandbox.
#include "core/config/plugin.h"
#include "plugins/tasks/benchmarks/python_runs.h"
#include "plugins/tasks/benchmarks/question_task.h"

namespace draftlab {
namespace {

class Mbpp final : public QuestionTask {
 public:
  struct Options : QuestionFileOptions {
    PythonLimits limits;
    Options() { turn = "{question}\\n[BEGIN]\\n{answer}"; }
    void declare(OptionSet& set) {
      QuestionFileOptions::declare(set);
      limits.declare(set);
    }
  };
  explicit Mbpp(const Options& options)
      : QuestionTask("mbpp", options),
        chat_(options.chat != Chat::plain),
        limits_(options.limits) {}

  void load(const Tokenizer* tokenizer) override {
    QuestionTask::load(tokenizer);
    limits_.check("mbpp");
  }
  std::vector<Score> score(const Prompt& prompt, const Canvas& canvas) const override {
    const std::string code = extracted_code(text(prompt, canvas));
    std::vector<Score> scores{{"extracted", code.find("def ") != std::string::npos ? 1.0 : 0.0}};
    if (limits_.python.empty()) return scores;
    const FileQuestion& asked = question(prompt);
    std::string tests = asked.setup + "\n";
    for (const std::string& test : asked.tests) tests += test + "\n";
    const bool correct = python_succeeds({code + "\n", "", asked.answer, tests}, limits_);
    scores.push_back({"correct", correct ? 1.0 : 0.0});
    return scores;
  }

 private:
  std::vector<FileQuestion> parse(const std::string& text, const std::string& name) const override {
    return parse_mbpp(text, name);
  }
  // The question is put as MBPP's authors put it.
  Turn turn(const FileQuestion& question) const override {
    std::string asked =
        "You are an expert Python programmer, and here is your task: " + question.text +
        " Your code should pass these tests:\n";
    for (const std::string& test : question.tests) asked += "\n" + test;
    return {asked, (chat_ ? "[BEGIN]\n" : "") + question.answer + "\n[DONE]"};
  }
  std::vector<std::string> until() const override {
    return {"[DONE]", "\n\nYou are an expert Python programmer"};
  }

  bool chat_;
  PythonLimits limits_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(task, mbpp) {
  registries.tasks.add<draftlab::Mbpp>("mbpp",
                                       "Python programs of MBPP's JSONL, scored by running their "
                                       "tests where an interpreter is named");
}
