// The task `ifeval` gives instructions whose following can be checked (IFEval's JSONL). Its scores
// are the share of a prompt's instructions that were followed, and whether all were; a prompt with
// an instruction that cannot be checked here is scored by the others.
#include "core/config/plugin.h"
#include "plugins/tasks/benchmarks/instructions.h"
#include "plugins/tasks/benchmarks/question_task.h"

namespace draftlab {
namespace {

class Ifeval final : public QuestionTask {
 public:
  struct Options : QuestionFileOptions {
    Options() { turn = "{question}\\n{answer}", answer_tokens = 1024; }
  };
  explicit Ifeval(const Options& options) : QuestionTask("ifeval", options) {}

  std::vector<Score> score(const Prompt& prompt, const Canvas& canvas) const override {
    const std::string answer = text(prompt, canvas);
    double checked = 0, strict = 0, loose = 0;
    for (const std::string& test : question(prompt).tests) {
      const nlohmann::json instruction = nlohmann::json::parse(test);
      const std::optional<bool> followed = follows(instruction, answer);
      if (!followed) continue;
      ++checked;
      strict += *followed;
      loose += *follows_loosely(instruction, answer);
    }
    if (checked == 0) return {{"checked", 0}};
    return {{"correct", strict == checked ? 1.0 : 0.0},
            {"correct_loose", loose == checked ? 1.0 : 0.0},
            {"followed", strict / checked},
            {"followed_loose", loose / checked},
            {"checked", checked}};
  }

 private:
  std::vector<FileQuestion> parse(const std::string& text, const std::string& name) const override {
    return parse_ifeval(text, name);
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(task, ifeval) {
  registries.tasks.add<draftlab::Ifeval>(
      "ifeval", "instructions of IFEval's JSONL, scored by the share that was followed");
}
