// Texts cut into canvases, which the tasks `infill` and `prefix` decode.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/options.h"
#include "plugins/tasks/listed_task.h"
#include "plugins/tasks/stories/stories.h"

namespace draftlab {

// Where texts come from.
enum class TextSource { stories, text, csv, jsonl };
constexpr std::array<std::string_view, 4> words(TextSource) {
  return {"stories", "text", "csv", "jsonl"};
}

// What a document of a text file is.
enum class DocumentUnit { lines, paragraphs };
constexpr std::array<std::string_view, 2> words(DocumentUnit) { return {"lines", "paragraphs"}; }

// How documents fill canvases.
enum class Packing { documents, chunks, chunks_xlnet };
constexpr std::array<std::string_view, 3> words(Packing) {
  return {"documents", "chunks", "chunks-xlnet"};
}

struct PassageOptions {
  TextSource source = TextSource::stories;
  std::string path, field = "text";
  DocumentUnit documents = DocumentUnit::lines;
  Packing packing = Packing::documents;
  Split split = Split::test;
  std::int64_t length = 128, least = 16, count = 1000, seed = 1;
  bool begin = true;
  void declare(OptionSet& set);
};

struct Passage {
  std::string id;
  // The tokens, with <s> in front where the canvas begins with it.
  std::vector<Token> tokens;
};

// A task whose prompts are passages of which some tokens are masked.
class PassageTask : public ListedTask {
 public:
  using ListedTask::ListedTask;
  std::vector<Score> score(const Prompt& prompt, const Canvas& canvas) const final;
  std::string text(const Prompt& prompt, const Canvas& canvas) const final;

 protected:
  // Reads the passages. Throws ConfigError when there is no tokenizer, or no path where one is
  // needed, and DataError when the data yields no passage.
  void read(const PassageOptions& options, const Tokenizer* tokenizer);
  // The position of the text's first token: 1 where canvases begin with <s>.
  int first() const { return first_; }

 private:
  // The positions of the text that are given, in ascending order.
  virtual std::vector<std::int32_t> visible(const Passage& passage) const = 0;
  Prompt asked(const Passage& passage) const;

  int first_ = 0;
};

}  // namespace draftlab
