#include "plugins/tasks/stories/five_sentences.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "plugins/tasks/sentences.h"
#include "tests/scratch.h"

namespace draftlab {
namespace {

using Rows = std::vector<std::vector<std::string>>;
using Texts = std::vector<std::string>;

TEST_CASE("sentences end where a capital follows") {
  CHECK(sentences_of("He ran. She said \"Stop!\" It cost 3.50 today? yes. Then") ==
        Texts{"He ran.", "She said \"Stop!\"", "It cost 3.50 today? yes.", "Then"});
  CHECK(sentences_of("").empty());
}

TEST_CASE(
    "stories from ROCStories' columns, from its cloze test, and from sentences of documents") {
  const testing::File roc(
      "storyid,storytitle,sentence1,sentence2,sentence3,sentence4,sentence5\nx1,T,a.,b.,c.,d.,e."
      "\n");
  const testing::File cloze(
      "InputStoryid,InputSentence1,InputSentence2,InputSentence3,InputSentence4,"
      "RandomFifthSentenceQuiz1,RandomFifthSentenceQuiz2,AnswerRightEnding\n"
      "y1,a.,b.,c.,d.,wrong.,right.,2\ny2,a.,b.,c.,d.,right.,wrong.,1\n");
  const testing::File tale("document_id,text\nt,1.\nt,2.\nt,3.\nt,4.\nt,5.\nt,6.\nu,7.\n");
  const auto one = read_story_csv(roc.path), two = read_story_csv(cloze.path),
             three = read_story_csv(tale.path);
  REQUIRE(one.size() == 1);
  CHECK(one[0].id == "x1");
  CHECK(one[0].sentences[2] == "c.");
  REQUIRE(two.size() == 2);
  CHECK(two[0].sentences[4] == "right.");
  CHECK(two[1].sentences[4] == "right.");
  REQUIRE(three.size() == 1);
  CHECK(three[0].id == "t-0");
  CHECK(three[0].sentences[4] == "5.");

  const testing::File answer(
      "InputSentence1,InputSentence2,InputSentence3,InputSentence4,RandomFifthSentenceQuiz1,"
      "RandomFifthSentenceQuiz2,AnswerRightEnding\na,b,c,d,e,f,3\n");
  CHECK_THROWS_WITH_AS(
      read_story_csv(answer.path),
      ("'" + answer.path + "' line 2: AnswerRightEnding must be 1 or 2, not '3'").c_str(),
      DataError);
  const testing::File other("a,b\n1,2\n");
  CHECK_THROWS_AS(read_story_csv(other.path), DataError);
}

}  // namespace
}  // namespace draftlab
