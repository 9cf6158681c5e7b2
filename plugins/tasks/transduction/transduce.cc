// The task `transduce` gives a sentence and has its translation decoded: into the project's
// invented language, or from a parallel text that the user names. It is scored by corpus BLEU,
// whose sums are columns of the trace; `report` computes the quotient (metric bleu).
#include <filesystem>

#include "core/base/error.h"
#include "core/base/words.h"
#include "core/config/plugin.h"
#include "core/metrics/text_metrics.h"
#include "plugins/tasks/answers.h"
#include "plugins/tasks/listed_task.h"
#include "plugins/tasks/transduction/parallel_text.h"
#include "plugins/tasks/transduction/transductions.h"

namespace draftlab {
namespace {

class Transduce final : public ListedTask {
 public:
  struct Options {
    ProblemSplit split = ProblemSplit::test;
    std::string source, target;
    std::int64_t count = 500, seed = 1, answer_tokens = 64;
    bool begin = true;
    void declare(OptionSet& set) {
      set.add("split", &split)
          .help("Split of the generated sentences; no source is in two of them.");
      set.add("source", &source).help("File of sentences, one a line; empty: generated ones.");
      set.add("target", &target).help("File of their translations, line by line.");
      set.add("count", &count)
          .in(1, 1 << 24)
          .help("How many sentences; at most as many as the files hold.");
      set.add("seed", &seed).help("Seed of the generated sentences.");
      set.add("answer_tokens", &answer_tokens)
          .in(1, 1 << 16)
          .help("Positions of a translation, which ends at its first end token.");
      set.add("begin", &begin)
          .help("Every canvas begins with <s>: what draftlab's trainer shows a model.");
    }
  };
  explicit Transduce(const Options& options) : ListedTask("transduce"), options_(options) {
    if (options_.source.empty() != options_.target.empty())
      throw ConfigError(
          "task.transduce.source and task.transduce.target must both name a file, or neither");
  }

  void load(const Tokenizer* tokenizer) override {
    start(tokenizer);
    if (options_.source.empty()) {
      make_when_asked(options_.count, [this](int i) {
        const Transduction made =
            make_transduction(static_cast<std::uint64_t>(options_.seed), i, options_.split);
        return asked("transduce-" + std::string(word(options_.split)) + "-" + std::to_string(i),
                     made.source, made.target);
      });
      return;
    }
    const std::string name = std::filesystem::path(options_.source).stem().string();
    for (const SentencePair& pair : read_parallel(options_.source, options_.target)) {
      if (size() == options_.count) break;
      add(asked(name + "-" + std::to_string(pair.line), pair.source, pair.target));
    }
  }
  std::string text(const Prompt& prompt, const Canvas& canvas) const override {
    return answer_text(tokenizer(), prompt, canvas);
  }
  std::vector<Score> score(const Prompt& prompt, const Canvas& canvas) const override {
    const std::string candidate = text(prompt, canvas);
    const BleuSums sums = bleu_sums(prompt.text, candidate);
    std::vector<Score> scores;
    for (std::size_t i = 0; i < sums.size(); ++i) scores.push_back({kBleuSums[i], sums[i]});
    scores.push_back({"exact_match", exact_match(prompt.text, candidate) ? 1.0 : 0.0});
    return scores;
  }

 private:
  Prompt asked(const std::string& id, const std::string& source, const std::string& target) const {
    Prompt prompt = question_prompt({id, source, target}, {options_.answer_tokens, options_.begin},
                                    tokenizer());
    prompt.text = target;  // The whole target is kept, though its tokens may be cut.
    return prompt;
  }

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(task, transduce) {
  registries.tasks.add<draftlab::Transduce>("transduce",
                                            "a sentence is translated into an invented language, "
                                            "or as a parallel text has it; corpus BLEU");
}
