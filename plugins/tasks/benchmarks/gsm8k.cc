// The task `gsm8k` asks the grade-school problems of a JSONL file and scores the number that the
// answer ends in.
#include "core/base/error.h"
#include "core/config/plugin.h"
#include "plugins/tasks/benchmarks/question_task.h"
#include "plugins/tasks/final_number.h"

namespace draftlab {
namespace {

class Gsm8k final : public QuestionTask {
 public:
  using Options = QuestionFileOptions;
  explicit Gsm8k(const Options& options) : QuestionTask("gsm8k", options) {}

  std::vector<Score> score(const Prompt& prompt, const Canvas& canvas) const override {
    const auto number = final_number(text(prompt, canvas));
    return {{"correct", number == final_number(question(prompt).answer) ? 1.0 : 0.0},
            {"extracted", number ? 1.0 : 0.0}};
  }

 private:
  std::vector<FileQuestion> parse(const std::string& text, const std::string& name) const override {
    std::vector<FileQuestion> questions = parse_gsm8k(text, name);
    for (const FileQuestion& question : questions)
      if (!final_number(question.answer))
        throw DataError("'{}' question {} has no number after #### in its answer", name,
                        question.id);
    return questions;
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(task, gsm8k) {
  registries.tasks.add<draftlab::Gsm8k>(
      "gsm8k",
      "problems of GSM8K's JSONL, few-shot or with a system prompt, scored by their last number");
}
