// The task `hellaswag` chooses, of four endings, the one to which the model gives the highest
// probability (ASSD, Table 10): the sum of its tokens' log probabilities after the context, not
// normalised by its length.
#include <algorithm>
#include <map>

#include "core/base/documents.h"
#include "core/base/error.h"
#include "core/config/plugin.h"
#include "plugins/tasks/benchmarks/hellaswag_text.h"
#include "plugins/tasks/listed_task.h"
#include "plugins/tasks/prompts.h"

namespace draftlab {
namespace {

class Hellaswag final : public ListedTask {
 public:
  struct Options {
    std::string path;
    std::int64_t count = 0;
    bool begin = true;
    void declare(OptionSet& set) {
      set.add("path", &path).help("HellaSwag's JSONL with labels (hellaswag_val.jsonl).");
      set.add("count", &count)
          .in(0, 1 << 24)
          .help("Questions that are asked, the first of the file; 0: all.");
      set.add("begin", &begin)
          .help(
              "Every canvas begins with <s>, where the tokenizer has one: what draftlab's trainer "
              "shows a model.");
    }
  };
  explicit Hellaswag(const Options& options) : ListedTask("hellaswag"), options_(options) {}

  void load(const Tokenizer* tokenizer) override {
    if (options_.path.empty())
      throw ConfigError(
          "task.hellaswag.path must name the file of questions (data/README.md says which)");
    start(tokenizer);
    labels_.clear();
    for (const EndingChoice& question : parse_hellaswag(read_utf8(options_.path), options_.path)) {
      if (options_.count > 0 && size() == options_.count) break;
      Prompt prompt{"hellaswag-" + question.id,
                    0,
                    {},
                    {},
                    question.endings[static_cast<std::size_t>(question.label)],
                    0};
      if (begins(*tokenizer, options_.begin)) prompt.reference.push_back(tokenizer->begin());
      const std::vector<Token> context = tokenizer->encode(question.context);
      prompt.reference.insert(prompt.reference.end(), context.begin(), context.end());
      prompt.offset = static_cast<int>(prompt.reference.size());
      for (std::int32_t position = 0; position < prompt.offset; ++position)
        prompt.given.emplace_back(position, prompt.reference[static_cast<std::size_t>(position)]);
      std::size_t longest = 0;
      for (const std::string& ending : question.endings) {
        prompt.choices.push_back(tokenizer->encode(" " + ending));
        longest = std::max(longest, prompt.choices.back().size());
      }
      const std::vector<Token>& right = prompt.choices[static_cast<std::size_t>(question.label)];
      prompt.reference.insert(prompt.reference.end(), right.begin(), right.end());
      prompt.length = prompt.offset + static_cast<int>(longest);
      prompt.reference.resize(static_cast<std::size_t>(prompt.length), tokenizer->separator());
      prompt.id = prompt_id(prompt.id, prompt);
      labels_[prompt.id] = static_cast<std::size_t>(question.label);
      add(std::move(prompt));
    }
  }
  std::string text(const Prompt& prompt, const Canvas& canvas) const override {
    return decoded_text(tokenizer(), prompt, canvas);
  }
  std::vector<Score> score(const Prompt& prompt, const Canvas& canvas) const override {
    std::vector<Token> chosen(canvas.tokens().begin() + prompt.offset, canvas.tokens().end());
    std::erase(chosen, kNoToken);
    return {{"correct", chosen == prompt.choices[labels_.at(prompt.id)] ? 1.0 : 0.0}};
  }

 private:
  Options options_;
  // The index of the right choice, by prompt id.
  std::map<std::string, std::size_t> labels_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(task, hellaswag) {
  registries.tasks.add<draftlab::Hellaswag>(
      "hellaswag", "the likeliest of four endings, by the target's probability of each");
}
