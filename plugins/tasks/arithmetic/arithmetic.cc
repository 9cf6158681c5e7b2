// The task `arithmetic` asks worded problems with checkable answers (S2D2's GSM8K, made small). The
// question is given; the answer has a fixed number of positions, and its text ends at the first end
// token.
#include "core/base/error.h"
#include "core/base/words.h"
#include "core/config/plugin.h"
#include "plugins/tasks/answers.h"
#include "plugins/tasks/arithmetic/arithmetic_problems.h"
#include "plugins/tasks/final_number.h"
#include "plugins/tasks/listed_task.h"

namespace draftlab {
namespace {

class Arithmetic final : public ListedTask {
 public:
  struct Options {
    ProblemSplit split = ProblemSplit::test;
    std::int64_t count = 500, seed = 1, answer_tokens = 96, few_shot = 0;
    bool begin = true;
    void declare(OptionSet& set) {
      set.add("split", &split)
          .help("Split of the generated problems; no question is in two of them.");
      set.add("count", &count).in(1, 1 << 24).help("How many problems there are.");
      set.add("seed", &seed).help("Seed of the generated problems.");
      set.add("answer_tokens", &answer_tokens).in(1, 1 << 16).help("Positions of an answer.");
      set.add("few_shot", &few_shot)
          .in(0, 64)
          .help("Solved problems of the train split before each question.");
      set.add("begin", &begin)
          .help("Every canvas begins with <s>: what draftlab's trainer shows a model.");
    }
  };
  explicit Arithmetic(const Options& options) : ListedTask("arithmetic"), options_(options) {}

  void load(const Tokenizer* tokenizer) override {
    start(tokenizer);
    std::string examples;
    for (std::int64_t i = 0; i < options_.few_shot; ++i) {
      const Problem solved =
          make_problem(static_cast<std::uint64_t>(options_.seed), i, ProblemSplit::train);
      examples += solved.question + " " + solved.worked + " ";
    }
    make_when_asked(options_.count, [this, examples](int i) {
      const Problem problem =
          make_problem(static_cast<std::uint64_t>(options_.seed), i, options_.split);
      const std::string id =
          "arithmetic-" + std::string(word(options_.split)) + "-" + std::to_string(i);
      Prompt prompt = question_prompt({id, examples + problem.question, problem.worked},
                                      {options_.answer_tokens, options_.begin}, this->tokenizer());
      // The answer stays as it was written, whatever the vocabulary makes of it: the score reads
      // it.
      prompt.text = problem.worked;
      return prompt;
    });
  }
  std::string text(const Prompt& prompt, const Canvas& canvas) const override {
    return answer_text(tokenizer(), prompt, canvas);
  }
  std::vector<Score> score(const Prompt& prompt, const Canvas& canvas) const override {
    const bool correct = final_number(text(prompt, canvas)) == final_number(prompt.text);
    return {{"correct", correct ? 1.0 : 0.0}};
  }

 private:
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(task, arithmetic) {
  registries.tasks.add<draftlab::Arithmetic>(
      "arithmetic", "worded problems of small steps, scored by their last number");
}
