#include "plugins/tasks/stories/five_sentences.h"

#include <cctype>
#include <filesystem>

#include "core/base/documents.h"
#include "core/base/error.h"
#include "plugins/tasks/sentences.h"

namespace draftlab {
namespace {

using Stories = std::vector<FiveSentences>;

Stories from_columns(const CsvTable& table) {
  std::array<std::size_t, 5> columns;
  for (std::size_t i = 0; i < 5; ++i) columns[i] = table.column("sentence" + std::to_string(i + 1));
  Stories stories;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const auto& fields = table.rows[row];
    FiveSentences story{
        table.has("storyid") ? fields[table.column("storyid")] : "row-" + std::to_string(row), {}};
    for (std::size_t i = 0; i < 5; ++i) story.sentences[i] = fields[columns[i]];
    stories.push_back(std::move(story));
  }
  return stories;
}

Stories from_cloze_test(const CsvTable& table) {
  std::array<std::size_t, 4> columns;
  for (std::size_t i = 0; i < 4; ++i)
    columns[i] = table.column("InputSentence" + std::to_string(i + 1));
  const std::size_t answer = table.column("AnswerRightEnding");
  const std::array<std::size_t, 2> endings = {table.column("RandomFifthSentenceQuiz1"),
                                              table.column("RandomFifthSentenceQuiz2")};
  Stories stories;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const auto& fields = table.rows[row];
    const std::string& right = fields[answer];
    if (right != "1" && right != "2")
      throw DataError("'{}' line {}: AnswerRightEnding must be 1 or 2, not '{}'", table.name,
                      table.lines[row], right);
    FiveSentences story{table.has("InputStoryid") ? fields[table.column("InputStoryid")]
                                                  : "row-" + std::to_string(row),
                        {}};
    for (std::size_t i = 0; i < 4; ++i) story.sentences[i] = fields[columns[i]];
    story.sentences[4] = fields[endings[right == "2"]];
    stories.push_back(std::move(story));
  }
  return stories;
}

void add_windows(Stories& stories, const std::string& id,
                 const std::vector<std::string>& sentences) {
  for (std::size_t at = 0; at + 5 <= sentences.size(); at += 5) {
    FiveSentences story{id + "-" + std::to_string(at), {}};
    for (std::size_t i = 0; i < 5; ++i) story.sentences[i] = sentences[at + i];
    stories.push_back(std::move(story));
  }
}

Stories from_sentences(const CsvTable& table) {
  const std::size_t document = table.column("document_id"), text = table.column("text");
  Stories stories;
  for (std::size_t row = 0; row < table.rows.size();) {
    const std::string& id = table.rows[row][document];
    std::vector<std::string> sentences;
    for (; row < table.rows.size() && table.rows[row][document] == id; ++row)
      sentences.push_back(table.rows[row][text]);
    add_windows(stories, id, sentences);
  }
  return stories;
}

Stories with_text(Stories stories, const std::string& path) {
  std::erase_if(stories, [](const FiveSentences& story) {
    for (const std::string& sentence : story.sentences)
      if (blank(sentence)) return true;
    return false;
  });
  if (stories.empty()) throw DataError("'{}' holds no story of five sentences", path);
  return stories;
}

}  // namespace

Stories read_story_csv(const std::string& path) {
  const CsvTable table = read_csv(path);
  if (table.has("sentence1")) return with_text(from_columns(table), path);
  if (table.has("InputSentence1")) return with_text(from_cloze_test(table), path);
  if (table.has("document_id")) return with_text(from_sentences(table), path);
  throw DataError(
      "'{}' has neither the columns sentence1 to sentence5, nor InputSentence1 to 4, nor "
      "document_id and text",
      path);
}

Stories read_story_text(const std::string& path) {
  const std::string name = std::filesystem::path(path).stem().string();
  Stories stories;
  std::size_t paragraph = 0;
  for (const std::string& text : read_paragraphs(path))
    add_windows(stories, name + "-" + std::to_string(paragraph++), sentences_of(text));
  return with_text(std::move(stories), path);
}

}  // namespace draftlab
