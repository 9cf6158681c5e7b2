// The task `speed-bench` asks the questions of a split of SPEED-Bench (NVIDIA, 2026), as JSON
// lines: eleven categories of 80 questions in `qualitative`, and prompts of a given length in the
// splits `throughput_*`. It measures speed, so nothing is scored. Of a conversation the first turn
// is asked. A prompt's id begins with its category, by which `draftlab export --profile` tells them
// apart. Questions of other data sets stand in the published files as placeholders; NVIDIA's
// program fills them in, and its output is what is read here.
#include "core/base/error.h"
#include "core/base/json_lines.h"
#include "core/config/plugin.h"
#include "plugins/tasks/benchmarks/question_task.h"

namespace draftlab {
namespace {

class SpeedBench final : public QuestionTask {
 public:
  struct Options : QuestionFileOptions {
    Options() { turn = "{question}\\n{answer}"; }
  };
  explicit SpeedBench(const Options& options) : QuestionTask("speed-bench", options) {}

  std::vector<Score> score(const Prompt&, const Canvas&) const override { return {}; }

 private:
  std::vector<FileQuestion> parse(const std::string& text, const std::string& name) const override {
    std::vector<FileQuestion> questions;
    for (const JsonObject& object : json_objects(text, name)) {
      const std::vector<std::string> turns = object.texts("turns");
      if (turns.empty() || turns.front().empty())
        throw DataError("{} has no first turn under 'turns'", object.where);
      FileQuestion question;
      const bool numbered =
          object.has("question_id") && object.json["question_id"].is_number_integer();
      question.id =
          numbered ? std::to_string(object.number("question_id")) : object.text("question_id");
      question.text = turns.front();
      question.subject = object.text("category");
      questions.push_back(std::move(question));
    }
    return questions;
  }

  Prompt canvas_of(const FileQuestion& question, const std::vector<Turn>& examples) const override {
    Prompt prompt = QuestionTask::canvas_of(question, examples);
    prompt.id = question.subject + "/" + question.id;
    return prompt;
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(task, speed_bench) {
  registries.tasks.add<draftlab::SpeedBench>(
      "speed-bench", "questions of a split of SPEED-Bench, by category; nothing is scored");
}
