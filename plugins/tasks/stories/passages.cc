#include "plugins/tasks/stories/passages.h"

#include <deque>
#include <filesystem>
#include <optional>

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
  PassageOptions options_;
  std::vector<std::string> texts_;
};

// Cuts documents into passages, each when it is asked for.
class Passages {
 public:
  Passages(const PassageOptions& options, const Tokenizer& tokenizer, const std::string& task)
      : options_(options),
        task_(task),
        tokenizer_(tokenizer),
        documents_(options),
        begins_(begins(tokenizer, options.begin)) {}

  // The next passage; nothing where the documents end. Throws ConfigError where a generated story
  // is too short.
  std::optional<Passage> next() {
    // The number of text tokens of a canvas.
    const std::size_t length = static_cast<std::size_t>(options_.length) - (begins_ ? 1 : 0);
    for (; options_.packing == Packing::documents || packed_.size() < length; ++document_) {
      if (documents_.done(document_)) return {};
      std::vector<Token> tokens = tokenizer_.encode(documents_.text(document_));
      if (tokens.size() < static_cast<std::size_t>(options_.least)) {
        if (!documents_.endless()) continue;
        throw ConfigError("task.{}.least = {} is more than a generated story has tokens", task_,
                          options_.least);
      }
      if (options_.packing == Packing::documents) {
        if (tokens.size() > length) tokens.resize(length);
        return passage(std::move(tokens), document_++);
      }
      packed_.insert(packed_.end(), tokens.begin(), tokens.end());
      packed_.push_back(tokenizer_.separator());
      // These are XLNet's ids of <cls></s>.
      if (options_.packing == Packing::chunks_xlnet) packed_.insert(packed_.end(), {3, 2});
    }
    const auto end = packed_.begin() + static_cast<std::ptrdiff_t>(length);
    const std::vector<Token> chunk(packed_.begin(), end);
    packed_.erase(packed_.begin(), end);
    return passage(chunk, chunks_++);
  }

 private:
  Passage passage(std::vector<Token> tokens, std::size_t number) const {
    if (begins_) tokens.insert(tokens.begin(), tokenizer_.begin());
    return {documents_.name() + "-" + std::to_string(number), std::move(tokens)};
  }

  PassageOptions options_;
  std::string task_;
  const Tokenizer& tokenizer_;
  Documents documents_;
  bool begins_;
  std::size_t document_ = 0, chunks_ = 0;
  // What of the documents so far is in no chunk yet.
  std::deque<Token> packed_;
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

void PassageTask::read(const PassageOptions& options, const Tokenizer* tokenizer) {
  const std::string& task = name();
  if (options.source != TextSource::stories && options.path.empty())
    throw ConfigError("task.{}.path must name a file where task.{}.source = {}", task, task,
                      word(options.source));
  if (options.source == TextSource::stories && options.count == 0)
    throw ConfigError(
        "task.{}.count must be at least 1 where task.{}.source = stories: the generator has no end",
        task, task);
  start(tokenizer);
  first_ = begins(*tokenizer, options.begin) ? 1 : 0;
  Passages passages(options, *tokenizer, task);
  if (options.source == TextSource::stories) {
    make_when_asked(options.count,
                    [this, passages](int) mutable { return asked(*passages.next()); });
    return;
  }
  while (options.count == 0 || size() < options.count) {
    const std::optional<Passage> passage = passages.next();
    if (!passage) break;
    add(asked(*passage));
  }
  if (size() == 0)
    throw DataError("'{}' yields no canvas: its text is too short for length and least of task.{}",
                    options.path, task);
}

Prompt PassageTask::asked(const Passage& passage) const {
  Prompt prompt{passage.id, static_cast<int>(passage.tokens.size()), {}, passage.tokens, {},
                first_};
  prompt.text = tokenizer().decode({passage.tokens.begin() + first_, passage.tokens.end()});
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
  return decoded_text(tokenizer(), prompt, canvas);
}

}  // namespace draftlab
