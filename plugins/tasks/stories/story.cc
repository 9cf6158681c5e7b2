// The task `story` asks, of five sentences, for the middle one or the three in the middle (ASSD,
// Table 3). Sentences are encoded one by one, and a hidden sentence has as many positions as the
// reference.
#include <array>
#include <string_view>

#include "core/base/error.h"
#include "core/base/words.h"
#include "core/config/plugin.h"
#include "core/metrics/text_metrics.h"
#include "plugins/tasks/listed_task.h"
#include "plugins/tasks/prompts.h"
#include "plugins/tasks/stories/five_sentences.h"
#include "plugins/tasks/stories/passages.h"
#include "plugins/tasks/stories/stories.h"

namespace draftlab {
namespace {

// Where stories come from.
enum class StorySource { stories, csv, text };
constexpr std::array<std::string_view, 3> words(StorySource) { return {"stories", "csv", "text"}; }

// How many sentences are hidden.
enum class Hidden { one, three };
constexpr std::array<std::string_view, 2> words(Hidden) { return {"1", "3"}; }

// What a model is given besides its task: the sentences on both sides of what is hidden, or those
// before it.
enum class Sight { both, left };
constexpr std::array<std::string_view, 2> words(Sight) { return {"both", "left"}; }

class StoryTask final : public ListedTask {
 public:
  struct Options {
    StorySource source = StorySource::stories;
    std::string path;
    Split split = Split::test;
    Hidden hide = Hidden::one;
    Sight sees = Sight::both;
    std::int64_t count = 1000, seed = 1;
    bool begin = true;
    void declare(OptionSet& set) {
      set.add("source", &source).help("Where stories come from; stories are generated.");
      set.add("path", &path)
          .help(
              "The file, unless the source is stories; a CSV file is recognised by its columns "
              "(data/README.md).");
      set.add("split", &split).help("Split of the generated stories; they never share one.");
      set.add("hide", &hide)
          .help("Sentences that are hidden: 1 the third, 3 the second to the fourth.");
      set.add("sees", &sees)
          .help(
              "Sentences that are given: those on both sides; or those before alone, and the story "
              "ends with the hidden ones (for models that read from left to right).");
      set.add("count", &count).in(0, 1 << 24).help("The most stories; 0: all that the file has.");
      set.add("seed", &seed).help("Seed of the generated stories.");
      set.add("begin", &begin)
          .help(
              "Every canvas begins with <s>, which is always given: what draftlab's trainer shows "
              "a model.");
    }
  };
  explicit StoryTask(const Options& options) : ListedTask("story"), options_(options) {}

  void load(const Tokenizer* tokenizer) override {
    if (options_.source != StorySource::stories && options_.path.empty())
      throw ConfigError("task.story.path must name a file where task.story.source = {}",
                        word(options_.source));
    start(tokenizer);
    if (options_.source != StorySource::stories) {
      for (const FiveSentences& story : read()) add(hidden(story));
      return;
    }
    if (options_.count == 0)
      throw ConfigError(
          "task.story.count must be at least 1 where task.story.source = stories: the generator "
          "has no end");
    make_when_asked(options_.count, [this](int i) {
      return hidden(
          {"stories-" + std::string(word(options_.split)) + "-" + std::to_string(i),
           make_story(static_cast<std::uint64_t>(options_.seed), i, options_.split).sentences});
    });
  }
  std::string text(const Prompt& prompt, const Canvas& canvas) const override {
    return decoded_text(tokenizer(), prompt, canvas);
  }

  std::vector<Score> score(const Prompt& prompt, const Canvas& canvas) const override {
    std::vector<Token> wanted, written;
    for (std::int32_t position = 0; position < canvas.length(); ++position) {
      if (canvas.given(position)) continue;
      wanted.push_back(prompt.reference[position]);
      if (!canvas.masked(position)) written.push_back(canvas.token(position));
    }
    const std::string reference = tokenizer().decode(wanted),
                      candidate = tokenizer().decode(written);
    return {{"rouge1", 100 * rouge_n(reference, candidate, 1)},
            {"rouge2", 100 * rouge_n(reference, candidate, 2)},
            {"rougel", 100 * rouge_l(reference, candidate)},
            {"exact_match", exact_match(reference, candidate) ? 1.0 : 0.0}};
  }

 private:
  std::vector<FiveSentences> read() const {
    std::vector<FiveSentences> stories = options_.source == StorySource::csv
                                             ? read_story_csv(options_.path)
                                             : read_story_text(options_.path);
    if (options_.count && stories.size() > static_cast<std::size_t>(options_.count))
      stories.resize(static_cast<std::size_t>(options_.count));
    return stories;
  }

  Prompt hidden(const FiveSentences& story) const {
    const int first = options_.hide == Hidden::one ? 2 : 1,
              last = options_.hide == Hidden::one ? 2 : 3;
    Prompt prompt{story.id, 0, {}, {}, {}, begins(tokenizer(), options_.begin) ? 1 : 0};
    if (prompt.offset) {
      prompt.given.emplace_back(0, tokenizer().begin());
      prompt.reference.push_back(tokenizer().begin());
    }
    for (int i = 0; i <= (options_.sees == Sight::left ? last : 4); ++i)
      for (Token token : tokenizer().encode(story.sentences[i])) {
        const auto position = static_cast<std::int32_t>(prompt.reference.size());
        if (i < first || i > last) prompt.given.emplace_back(position, token);
        prompt.reference.push_back(token);
      }
    prompt.length = static_cast<int>(prompt.reference.size());
    prompt.text =
        tokenizer().decode({prompt.reference.begin() + prompt.offset, prompt.reference.end()});
    prompt.id = prompt_id(story.id, prompt);
    return prompt;
  }

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(task, story) {
  registries.tasks.add<draftlab::StoryTask>(
      "story", "five sentences, of which the middle one or three are written again");
}
