// The task `lambada` asks for the last word of a passage, in as many tokens as it has (ASSD, Table
// 10).
#include "core/base/documents.h"
#include "core/base/error.h"
#include "core/config/plugin.h"
#include "core/metrics/text_metrics.h"
#include "plugins/tasks/listed_task.h"
#include "plugins/tasks/prompts.h"

namespace draftlab {
namespace {

class Lambada final : public ListedTask {
 public:
  struct Options {
    std::string path, field = "text";
    std::int64_t count = 0;
    bool begin = true;
    void declare(OptionSet& set) {
      set.add("path", &path).help("LAMBADA's JSONL (lambada_test.jsonl).");
      set.add("field", &field).help("Key that holds the passage.");
      set.add("count", &count)
          .in(0, 1 << 24)
          .help("Passages that are asked, the first of the file; 0: all.");
      set.add("begin", &begin)
          .help(
              "Every canvas begins with <s>, where the tokenizer has one: what draftlab's trainer "
              "shows a model.");
    }
  };
  explicit Lambada(const Options& options) : ListedTask("lambada"), options_(options) {}

  void load(const Tokenizer* tokenizer) override {
    if (options_.path.empty())
      throw ConfigError(
          "task.lambada.path must name the file of passages (data/README.md says which)");
    start(tokenizer);
    for (const std::string& passage : read_jsonl(options_.path, options_.field)) {
      if (options_.count > 0 && size() == options_.count) break;
      add(without_last_word(passage, "lambada-" + std::to_string(size())));
    }
  }
  std::string text(const Prompt& prompt, const Canvas& canvas) const override {
    return decoded_text(tokenizer(), prompt, canvas);
  }
  std::vector<Score> score(const Prompt& prompt, const Canvas& canvas) const override {
    return {{"correct", exact_match(prompt.text, text(prompt, canvas)) ? 1.0 : 0.0}};
  }

 private:
  Prompt without_last_word(const std::string& passage, const std::string& id) const {
    const std::size_t end = passage.find_last_not_of(" \t\n"),
                      gap = end == std::string::npos ? end : passage.find_last_of(" \t\n", end);
    if (gap == std::string::npos)
      throw DataError("'{}' passage {} has fewer than two words", options_.path, size());
    const std::string word = passage.substr(gap + 1, end - gap);
    std::string before;  // The words before it, joined by one space.
    for (const char c : passage.substr(0, gap)) {
      const bool space = c == ' ' || c == '\t' || c == '\n';
      if (!space)
        before += c;
      else if (!before.empty() && before.back() != ' ')
        before += ' ';
    }
    while (!before.empty() && before.back() == ' ') before.pop_back();
    Prompt prompt{id, 0, {}, {}, word, 0};
    if (begins(tokenizer(), options_.begin)) prompt.reference.push_back(tokenizer().begin());
    const std::vector<Token> given = tokenizer().encode(before),
                             wanted = tokenizer().encode(" " + word);
    prompt.reference.insert(prompt.reference.end(), given.begin(), given.end());
    prompt.offset = static_cast<int>(prompt.reference.size());
    for (std::int32_t position = 0; position < prompt.offset; ++position)
      prompt.given.emplace_back(position, prompt.reference[static_cast<std::size_t>(position)]);
    prompt.reference.insert(prompt.reference.end(), wanted.begin(), wanted.end());
    prompt.length = static_cast<int>(prompt.reference.size());
    prompt.id = prompt_id(id, prompt);
    return prompt;
  }

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(task, lambada) {
  registries.tasks.add<draftlab::Lambada>(
      "lambada", "the last word of a passage of LAMBADA's JSONL, scored by exact match");
}
