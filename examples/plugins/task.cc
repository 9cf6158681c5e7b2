// A task: it hands out prompts and scores what was decoded. This one reads a text file; of every
// line the last `hidden` tokens are masked, and the score is the share of them that came out as
// they stand in the file.
#include <fstream>
#include <string>

#include "core/config/plugin.h"

namespace {

using draftlab::Token;

class LineEnds final : public draftlab::Task {
 public:
  struct Options {
    std::string path;
    std::int64_t hidden = 8;
    void declare(draftlab::OptionSet& set) {
      set.add("path", &path).help("Text file; every line is a prompt.");
      set.add("hidden", &hidden).in(1, 4096).help("Tokens at the end of a line to decode.");
    }
  };
  explicit LineEnds(const Options& options) : options_(options) {}

  void load(const draftlab::Tokenizer* tokenizer) override {
    if (!tokenizer) throw draftlab::ConfigError("task 'line-ends' needs a model with a tokenizer");
    tokenizer_ = tokenizer;
    prompts_.clear();  // An arm of the same sweep may load the task again.
    std::ifstream file(options_.path);
    std::string line;
    while (std::getline(file, line)) add(line);
    if (prompts_.empty())
      throw draftlab::DataError(
          "task.line-ends.path = '{}' has no line of more than {} tokens, or cannot be read",
          options_.path, options_.hidden);
  }

  int size() const override { return static_cast<int>(prompts_.size()); }
  draftlab::Prompt prompt(int index) const override { return prompts_.at(index); }

  std::vector<draftlab::Score> score(const draftlab::Prompt& prompt,
                                     const draftlab::Canvas& canvas) const override {
    double right = 0;
    for (std::int32_t i = first_hidden(prompt); i < prompt.length; ++i)
      right += canvas.token(i) == prompt.reference[i];
    return {{"right", right / static_cast<double>(options_.hidden)}};
  }

  std::string text(const draftlab::Prompt& prompt, const draftlab::Canvas& canvas) const override {
    const std::vector<Token>& tokens = canvas.tokens();
    return tokenizer_->decode({tokens.begin() + prompt.offset, tokens.end()});
  }

 private:
  std::int32_t first_hidden(const draftlab::Prompt& prompt) const {
    return prompt.length - static_cast<std::int32_t>(options_.hidden);
  }

  void add(const std::string& line) {
    const std::vector<Token> tokens = tokenizer_->encode(line);
    if (static_cast<std::int64_t>(tokens.size()) <= options_.hidden) return;
    draftlab::Prompt prompt;
    // The prompt's id is part of every random number.
    prompt.id = "line-ends-" + std::to_string(prompts_.size());
    prompt.reference = tokens;
    // A text begins with this token, where the tokenizer has one.
    if (tokenizer_->begin() != draftlab::kNoToken) {
      prompt.reference.insert(prompt.reference.begin(), tokenizer_->begin());
      prompt.offset = 1;
    }
    prompt.length = static_cast<int>(prompt.reference.size());
    prompt.text = line;
    for (std::int32_t i = 0; i < first_hidden(prompt); ++i)
      prompt.given.emplace_back(i, prompt.reference[i]);
    prompts_.push_back(std::move(prompt));
  }

  Options options_;
  const draftlab::Tokenizer* tokenizer_ = nullptr;
  std::vector<draftlab::Prompt> prompts_;
};

}  // namespace

DRAFTLAB_SHARED_PLUGIN() {
  registries.tasks.add<LineEnds>("line-ends", "the last tokens of the lines of a file");
}
