// Stories of five sentences, wherever they come from.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace draftlab {

struct FiveSentences {
  std::string id;  // "stories-test-7", "kari-woodencoat-0", or what the file says under storyid or
                   // InputStoryid
  std::array<std::string, 5> sentences;
};

// Recognised by its columns:
//   sentence1 ... sentence5                                                      ROCStories
//   InputSentence1 ... 4, RandomFifthSentenceQuiz1, ...2, AnswerRightEnding      its cloze test:
//   the right ending is taken document_id, text sentences of documents: windows of five, in turn
// DataError naming the file otherwise, or when none is left.
std::vector<FiveSentences> read_story_csv(const std::string& path);

// The sentences of each paragraph, in windows of five.
std::vector<FiveSentences> read_story_text(const std::string& path);

}  // namespace draftlab
