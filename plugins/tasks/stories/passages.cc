#include "plugins/tasks/stories/passages.h"

#include <filesystem>
#include <iomanip>
#include <sstream>

#include "core/base/documents.h"
#include "core/base/error.h"
#include "core/prob/chance.h"
#include "plugins/tasks/stories/stories.h"

namespace draftlab {
namespace {

// The documents' texts, one at a time, so that a generator is asked only for what is used.
class Documents {
 public:
  explicit Documents(const PassageOptions& options) : options_(options) {
    if (options.source == "text")
      texts_ =
          options.documents == "lines" ? read_lines(options.path) : read_paragraphs(options.path);
    if (options.source == "jsonl") texts_ = read_jsonl(options.path, options.field);
    if (options.source == "csv") {
      const Table table = read_csv(options.path);
      const std::size_t column = table.column(options.field);
      for (const auto& row : table.rows) texts_.push_back(row[column]);
    }
  }
  std::string name() const {
    return options_.source == "stories" ? "stories-" + options_.split
                                        : std::filesystem::path(options_.path).stem().string();
  }
  bool endless() const { return options_.source == "stories"; }
  bool done(std::size_t index) const { return !endless() && index >= texts_.size(); }
  std::string text(std::size_t index) const {
    if (!endless()) return texts_[index];
    return make_story(static_cast<std::uint64_t>(options_.seed), static_cast<std::int64_t>(index),
                      split_named(options_.split))
        .text();
  }

 private:
  const PassageOptions& options_;
  std::vector<std::string> texts_;
};

}  // namespace

void PassageOptions::declare(OptionSet& set) {
  set.add("source", &source)
      .one_of({"stories", "text", "csv", "jsonl"})
      .help("where texts come from; stories are generated");
  set.add("path", &path).help("the file, unless the source is stories");
  set.add("field", &field).help("column of a CSV file, or key of a JSON line, that holds the text");
  set.add("documents", &documents)
      .one_of({"lines", "paragraphs"})
      .help("what a document of a text file is");
  set.add("packing", &packing)
      .one_of({"documents", "chunks", "chunks-xlnet"})
      .help(
          "documents: a canvas each; chunks: documents joined by <sep>, as draftlab's trainer "
          "joins them, and cut to `length` tokens; "
          "chunks-xlnet: joined by <sep><cls></s>, as the authors of ASSD do");
  set.add("begin", &begin)
      .help(
          "every canvas begins with <s>, where the tokenizer has one; it is always given: what "
          "draftlab's trainer shows a model");
  set.add("split", &split)
      .one_of({"train", "validation", "test"})
      .help("of the generated stories; they never share one");
  set.add("length", &length)
      .in(3, 1 << 20)
      .help("tokens of a canvas, <s> included; of a document, at most");
  set.add("least", &least).in(2, 1 << 20).help("documents of fewer tokens are passed over");
  set.add("count", &count).in(0, 1 << 24).help("prompts, at most; 0: as many as the file yields");
  set.add("seed", &seed).help("of generated stories and of masks; no other seed changes a prompt");
}

Passages read_passages(const PassageOptions& options, const Tokenizer* tokenizer,
                       const std::string& task) {
  if (!tokenizer)
    throw ConfigError("task '" + task + "' decodes text, but the model has no tokenizer");
  if (options.source != "stories" && options.path.empty())
    throw ConfigError("task." + task + ".path must name a file where task." + task +
                      ".source = " + options.source);
  if (options.source == "stories" && options.count == 0)
    throw ConfigError("task." + task + ".count must be at least 1 where task." + task +
                      ".source = stories: the generator has no end");
  const Documents documents(options);
  const std::size_t most =
      options.count ? static_cast<std::size_t>(options.count) : std::string::npos;
  const bool begin = begins(*tokenizer, options.begin);
  const std::size_t length = static_cast<std::size_t>(options.length - (begin ? 1 : 0));  // of text
  Passages passages;
  const auto add = [&](std::vector<Token> tokens, std::size_t number) {
    if (begin) tokens.insert(tokens.begin(), tokenizer->begin());
    passages.digest = digest_of(tokens, passages.digest);
    passages.items.push_back({documents.name() + "-" + std::to_string(number), std::move(tokens)});
  };
  std::vector<Token> packed;
  for (std::size_t i = 0; passages.items.size() < most && !documents.done(i); ++i) {
    std::vector<Token> tokens = tokenizer->encode(documents.text(i));
    if (tokens.size() < static_cast<std::size_t>(options.least)) {
      if (!documents.endless()) continue;
      throw ConfigError("task." + task + ".least = " + std::to_string(options.least) +
                        " is more than a generated story has tokens");
    }
    if (options.packing == "documents") {
      if (tokens.size() > length) tokens.resize(length);
      add(std::move(tokens), i);
      continue;
    }
    packed.insert(packed.end(), tokens.begin(), tokens.end());
    packed.push_back(tokenizer->separator());
    if (options.packing == "chunks-xlnet")
      packed.insert(packed.end(), {3, 2});  // <cls></s>: XLNet's ids
    std::size_t at = 0;
    for (; packed.size() - at >= length && passages.items.size() < most; at += length)
      add({packed.begin() + static_cast<std::ptrdiff_t>(at),
           packed.begin() + static_cast<std::ptrdiff_t>(at + length)},
          passages.items.size());
    packed.erase(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(at));
  }
  if (passages.items.empty())
    throw DataError("'" + options.path +
                    "' yields no canvas: its text is too short for length and least of task." +
                    task);
  return passages;
}

bool begins(const Tokenizer& tokenizer, bool asked) {
  return asked && tokenizer.begin() != kNoToken;
}

std::string prompt_id(const std::string& name, const Prompt& prompt) {
  std::vector<Token> parts = prompt.reference;
  for (const auto& given : prompt.given) parts.push_back(given.first);
  return name + "-" + digest_of(parts, {}).substr(0, 8);
}

std::vector<Score> token_scores(const Prompt& prompt, const Canvas& canvas) {
  int equal = 0, generated = 0;
  for (std::int32_t position = 0; position < canvas.length(); ++position) {
    if (canvas.given(position)) continue;
    ++generated;
    equal += canvas.token(position) == prompt.reference[position];
  }
  return {{"token_match", generated ? static_cast<double>(equal) / generated : 1},
          {"exact_match", equal == generated ? 1.0 : 0.0}};
}

std::string decoded_text(const Tokenizer& tokenizer, const Prompt& prompt, const Canvas& canvas) {
  std::vector<Token> tokens(canvas.tokens().begin() + prompt.offset, canvas.tokens().end());
  std::erase(tokens, kNoToken);
  return tokenizer.decode(tokens);
}

std::string digest_of(const std::vector<Token>& tokens, const std::string& before) {
  std::string bytes = before;
  for (Token token : tokens) bytes += std::to_string(token) + " ";
  std::ostringstream hex;
  hex << std::hex << std::setfill('0') << std::setw(16) << stable_hash(bytes);
  return hex.str();
}

}  // namespace draftlab
