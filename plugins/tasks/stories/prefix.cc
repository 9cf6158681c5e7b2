// The task `prefix` gives the beginning of a passage and asks for the rest (ASSD, Table 9).
#include <algorithm>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "plugins/tasks/prompts.h"
#include "plugins/tasks/stories/passages.h"

namespace draftlab {
namespace {

class Prefix final : public Task {
 public:
  struct Options : PassageOptions {
    std::int64_t prompt = 16;
    void declare(OptionSet& set) {
      PassageOptions::declare(set);
      set.add("prompt", &prompt).in(0, 1 << 20).help("Given tokens besides <s>; 0: <s> alone.");
    }
  };
  explicit Prefix(const Options& options) : options_(options) {
    const std::int64_t given = options_.prompt + (options_.begin ? 1 : 0);
    if (given == 0)
      throw ConfigError(
          "task.prefix.prompt = 0 needs task.prefix.begin = true: something must be given");
    if (options_.packing != Packing::documents && given >= options_.length)
      throw ConfigError(
          "task.prefix.prompt = {} leaves nothing to decode of task.prefix.length = {}",
          options_.prompt, options_.length);
    options_.least = std::max(options_.least, options_.prompt + 1);
    options_.length = std::max(options_.length, given + 1);
  }

  void load(const Tokenizer* tokenizer) override {
    passages_ = read_passages(options_, tokenizer, "prefix");
    if (options_.prompt == 0 && !begins(*tokenizer, options_.begin))
      throw ConfigError(
          "task.prefix.prompt = 0 needs a tokenizer with <s>: something must be given");
    tokenizer_ = tokenizer;
  }
  int size() const override { return static_cast<int>(passages_.items.size()); }
  std::string digest() const override { return passages_.digest; }

  Prompt prompt(int index) const override {
    const Passage& passage = passages_.items.at(static_cast<std::size_t>(index));
    Prompt prompt{passage.id,     0,  {},
                  passage.tokens, {}, begins(*tokenizer_, options_.begin) ? 1 : 0};
    prompt.text =
        tokenizer_->decode({passage.tokens.begin() + prompt.offset, passage.tokens.end()});
    prompt.length = static_cast<int>(prompt.reference.size());
    const int given = static_cast<int>(options_.prompt) + prompt.offset;
    for (std::int32_t position = 0; position < given; ++position)
      prompt.given.emplace_back(position, prompt.reference[position]);
    prompt.id = prompt_id(passage.id, prompt);
    return prompt;
  }
  std::vector<Score> score(const Prompt& prompt, const Canvas& canvas) const override {
    return token_scores(prompt, canvas);
  }
  std::string text(const Prompt& prompt, const Canvas& canvas) const override {
    return decoded_text(*tokenizer_, prompt, canvas);
  }

 private:
  Options options_;
  Passages passages_;
  const Tokenizer* tokenizer_ = nullptr;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(task, prefix) {
  registries.tasks.add<draftlab::Prefix>("prefix",
                                         "the beginning of a text is given, the rest is completed");
}
