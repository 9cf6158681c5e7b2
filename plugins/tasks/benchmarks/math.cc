// The task `math` asks the competition problems of MATH's JSONL and scores the answer that the
// solution names.
#include "core/base/error.h"
#include "core/config/plugin.h"
#include "plugins/tasks/benchmarks/math_answers.h"
#include "plugins/tasks/benchmarks/question_task.h"

namespace draftlab {
namespace {

class Math final : public QuestionTask {
 public:
  struct Options : QuestionFileOptions {
    Options() { turn = "Problem:\\n{question}\\n\\nSolution: {answer}"; }
  };
  explicit Math(const Options& options) : QuestionTask("math", options) {}

  std::vector<Score> score(const Prompt& prompt, const Canvas& canvas) const override {
    const auto answer = math_answer(text(prompt, canvas));
    const bool correct =
        answer && plain_math(*answer) == plain_math(*math_answer(question(prompt).answer));
    return {{"correct", correct ? 1.0 : 0.0}, {"extracted", answer ? 1.0 : 0.0}};
  }

 private:
  std::vector<FileQuestion> parse(const std::string& text, const std::string& name) const override {
    std::vector<FileQuestion> questions = parse_math(text, name);
    for (const FileQuestion& question : questions)
      if (!math_answer(question.answer))
        throw DataError("'{}' problem {} has no \\boxed{{}} in its solution", name, question.id);
    return questions;
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(task, math) {
  registries.tasks.add<draftlab::Math>(
      "math", "problems of MATH's JSONL, scored by what stands in the last \\boxed{}");
}
