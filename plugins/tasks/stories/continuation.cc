// The task `continuation` gives the beginnings of texts and lets the model go on. Nothing is known
// of how they go on, so nothing is scored.
#include "core/base/documents.h"
#include "core/base/error.h"
#include "core/config/plugin.h"
#include "plugins/tasks/prompts.h"

namespace draftlab {
namespace {

class Continuation final : public Task {
 public:
  struct Options {
    std::string text, path, field;
    std::int64_t length = 256;
    bool begin = true;
    void declare(OptionSet& set) {
      set.add("text", &text).help("One beginning, in place of the file's.");
      set.add("path", &path)
          .help("A file of beginnings, one on each line; empty: the model begins by itself.");
      set.add("field", &field)
          .help("Key of a JSON line that holds the beginning; empty: the line is the beginning.");
      set.add("length", &length)
          .in(2, 1 << 20)
          .help("Tokens of a canvas, <s> and the beginning included.");
      set.add("begin", &begin).help("Every canvas begins with <s>, where the tokenizer has one.");
    }
  };
  explicit Continuation(const Options& options) : options_(options) {}

  void load(const Tokenizer* tokenizer) override {
    if (!tokenizer) throw NoTokenizer("continuation");
    tokenizer_ = tokenizer;
    prompts_.clear();
    digest_.clear();
    for (const std::string& text : texts()) {
      const std::string id = "continuation-" + std::to_string(prompts_.size());
      Prompt prompt{id, static_cast<int>(options_.length), {}, {}, {}, 0};
      std::vector<Token> tokens = tokenizer->encode(text);
      if (begins(*tokenizer, options_.begin)) {
        tokens.insert(tokens.begin(), tokenizer->begin());
        prompt.offset = 1;
      }
      if (tokens.empty())
        throw ConfigError(
            "task.continuation gives nothing: it needs a text, a path, or a tokenizer with <s>");
      if (static_cast<std::int64_t>(tokens.size()) >= options_.length)
        throw ConfigError(
            "task.continuation.length = {} leaves nothing to decode of beginning {}, which has {} "
            "tokens",
            options_.length, prompts_.size(), tokens.size());
      for (const Token token : tokens)
        prompt.given.emplace_back(static_cast<std::int32_t>(prompt.given.size()), token);
      const std::string own = digest_of(tokens, {});
      prompt.id += "-" + own.substr(0, 8);
      digest_ = digest_of(tokens, digest_);
      prompts_.push_back(std::move(prompt));
    }
  }
  int size() const override { return static_cast<int>(prompts_.size()); }
  std::string digest() const override { return digest_; }
  Prompt prompt(int index) const override { return prompts_.at(static_cast<std::size_t>(index)); }
  std::vector<Score> score(const Prompt&, const Canvas&) const override { return {}; }
  std::string text(const Prompt& prompt, const Canvas& canvas) const override {
    return decoded_text(*tokenizer_, prompt, canvas);
  }

 private:
  std::vector<std::string> texts() const {
    if (options_.path.empty() || !options_.text.empty()) return {options_.text};
    const std::vector<std::string> all = options_.field.empty()
                                             ? read_lines(options_.path)
                                             : read_jsonl(options_.path, options_.field);
    if (all.empty()) throw DataError("'{}' has no beginning of a text", options_.path);
    return all;
  }

  Options options_;
  std::vector<Prompt> prompts_;
  std::string digest_;
  const Tokenizer* tokenizer_ = nullptr;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(task, continuation) {
  registries.tasks.add<draftlab::Continuation>(
      "continuation", "the beginnings of texts are given and the model goes on; nothing is scored");
}
