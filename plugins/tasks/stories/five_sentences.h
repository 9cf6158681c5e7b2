// Reads stories of five sentences from several kinds of files.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace draftlab {

struct FiveSentences {
  // A name such as "stories-test-7" or "kari-woodencoat-0", or what the file says under storyid or
  // InputStoryid.
  std::string id;
  std::array<std::string, 5> sentences;
};

// Reads a file of comma-separated values, whose kind is recognised by its columns:
//   - sentence1 ... sentence5: ROCStories.
//   - InputSentence1 ... 4, RandomFifthSentenceQuiz1, ...2, AnswerRightEnding: its cloze test, of
//     which the right ending is taken.
//   - document_id, text: sentences of documents, in windows of five, in turn.
// Throws DataError naming the file for other columns, or when no story is left.
std::vector<FiveSentences> read_story_csv(const std::string& path);

// Takes the sentences of each paragraph in windows of five.
std::vector<FiveSentences> read_story_text(const std::string& path);

}  // namespace draftlab
