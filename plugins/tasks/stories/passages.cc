#include "plugins/tasks/stories/passages.h"

#include <filesystem>

#include "core/base/documents.h"
#include "core/base/error.h"
#include "core/base/words.h"
#include "plugins/tasks/prompts.h"
#include "plugins/tasks/stories/stories.h"

namespace draftlab {
namespace {

// Returns the texts of the documents one at a time, so that a generator is asked only for what is
// used.
class Documents {
 public:
  explicit Documents(const PassageOptions& options) : options_(options) {
    if (options.source == TextSource::text)
      texts_ = options.documents == DocumentUnit::lines ? read_lines(options.path)
                                                        : read_paragraphs(options.path);
    if (options.source == TextSource::jsonl) texts_ = read_jsonl(options.path, options.field);
    if (options.source == TextSource::csv) {
      const CsvTable table = read_csv(options.path);
      const std::size_t column = table.column(options.field);
      for (const auto& row : table.rows) texts_.push_back(row[column]);
    }
  }
  std::string name() const {
    return options_.source == TextSource::stories
               ? "stories-" + std::string(word(options_.split))
               : std::filesystem::path(options_.path).stem().string();
  }
  bool endless() const { return options_.source == TextSource::stories; }
  bool done(std::size_t index) const { return !endless() && index >= texts_.size(); }
  std::string text(std::size_t index) const {
    if (!endless()) return texts_[index];
    return make_story(static_cast<std::uint64_t>(options_.seed), static_cast<std::int64_t>(index),
                      options_.split)
        .text();
  }

 private:
  const PassageOptions& options_;
  std::vector<std::string> texts_;
};

}  // namespace

void PassageOptions::declare(OptionSet& set) {
  set.add("source", &source).help("Where texts come from; stories are generated.");
  set.add("path", &path).help("The file, unless the source is stories.");
  set.add("field", &field)
      .help("Column of a CSV file, or key of a JSON line, that holds the text.");
  set.add("documents", &documents).help("What a document of a text file is.");
  set.add("packing", &packing)
      .help(
          "How documents fill canvases. documents: a canvas each; chunks: documents joined by "
          "<sep>, as draftlab's trainer joins them, and cut to `length` tokens; chunks-xlnet: "
          "joined by <sep><cls></s>, as the authors of ASSD do.");
  set.add("begin", &begin)
      .help(
          "Every canvas begins with <s>, where the tokenizer has one; it is always given: what "
          "draftlab's trainer shows a model.");
  set.add("split", &split).help("Split of the generated stories; they never share one.");
  set.add("length", &length)
      .in(3, 1 << 20)
      .help("Tokens of a canvas, <s> included, or the most tokens of a document.");
  set.add("least", &least).in(2, 1 << 20).help("Documents of fewer tokens are passed over.");
  set.add("count", &count).in(0, 1 << 24).help("The most prompts; 0: as many as the file yields.");
  set.add("seed", &seed)
      .help("Seed of generated stories and of masks; no other seed changes a prompt.");
}

void PassageTask::read(const PassageOptions& options, const Tokenizer* tokenizer,
                       const std::string& task) {
  if (options.source != TextSource::stories && options.path.empty())
    throw ConfigError("task.{}.path must name a file where task.{}.source = {}", task, task,
                      word(options.source));
  if (!tokenizer) throw NoTokenizer(task);
  if (options.source == TextSource::stories && options.count == 0)
    throw ConfigError(
        "task.{}.count must be at least 1 where task.{}.source = stories: the generator has no end",
        task, task);
  const Documents documents(options);
  const std::size_t most =
      options.count ? static_cast<std::size_t>(options.count) : std::string::npos;
  tokenizer_ = tokenizer;
  first_ = begins(*tokenizer, options.begin) ? 1 : 0;
  passages_.clear();
  digest_.clear();
  // The number of text tokens of a canvas.
  const std::size_t length = static_cast<std::size_t>(options.length - first_);
  const auto add = [&](std::vector<Token> tokens, std::size_t number) {
    if (first_) tokens.insert(tokens.begin(), tokenizer->begin());
    digest_ = digest_of(tokens, digest_);
    passages_.push_back({documents.name() + "-" + std::to_string(number), std::move(tokens)});
  };
  std::vector<Token> packed;
  for (std::size_t i = 0; passages_.size() < most && !documents.done(i); ++i) {
    std::vector<Token> tokens = tokenizer->encode(documents.text(i));
    if (tokens.size() < static_cast<std::size_t>(options.least)) {
      if (!documents.endless()) continue;
      throw ConfigError("task.{}.least = {} is more than a generated story has tokens", task,
                        options.least);
    }
    if (options.packing == Packing::documents) {
      if (tokens.size() > length) tokens.resize(length);
      add(std::move(tokens), i);
      continue;
    }
    packed.insert(packed.end(), tokens.begin(), tokens.end());
    packed.push_back(tokenizer->separator());
    // These are XLNet's ids of <cls></s>.
    if (options.packing == Packing::chunks_xlnet) packed.insert(packed.end(), {3, 2});
    std::size_t at = 0;
    for (; packed.size() - at >= length && passages_.size() < most; at += length)
      add({packed.begin() + static_cast<std::ptrdiff_t>(at),
           packed.begin() + static_cast<std::ptrdiff_t>(at + length)},
          passages_.size());
    packed.erase(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(at));
  }
  if (passages_.empty())
    throw DataError("'{}' yields no canvas: its text is too short for length and least of task.{}",
                    options.path, task);
}

Prompt PassageTask::prompt(int index) const {
  const Passage& passage = passages_.at(static_cast<std::size_t>(index));
  Prompt prompt{passage.id, static_cast<int>(passage.tokens.size()), {}, passage.tokens, {},
                first_};
  prompt.text = tokenizer_->decode({passage.tokens.begin() + first_, passage.tokens.end()});
  if (first_) prompt.given.emplace_back(0, passage.tokens[0]);
  for (const std::int32_t position : visible(passage))
    prompt.given.emplace_back(position, passage.tokens[position]);
  prompt.id = prompt_id(passage.id, prompt);
  return prompt;
}

std::vector<Score> PassageTask::score(const Prompt& prompt, const Canvas& canvas) const {
  return token_scores(prompt, canvas);
}

std::string PassageTask::text(const Prompt& prompt, const Canvas& canvas) const {
  return decoded_text(*tokenizer_, prompt, canvas);
}

}  // namespace draftlab
