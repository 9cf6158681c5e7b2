#include "plugins/tasks/stories/stories.h"

#include <doctest/doctest.h>

#include <cctype>
#include <map>
#include <set>

#include "plugins/tasks/stories/story_plots.h"

namespace draftlab {
namespace {

TEST_CASE("a story depends on seed, index and split alone") {
  CHECK(make_story(1, 7).text() == make_story(1, 7).text());
  CHECK(make_stories(1, 8)[7].text() == make_story(1, 7).text());
  CHECK(make_story(1, 7).text() != make_story(2, 7).text());
  CHECK(make_story(1, 7).text() != make_story(1, 8).text());
}

TEST_CASE(
    "ten thousand stories: five sentences each, hardly any twice, no sentence that is common") {
  std::set<std::string> texts;
  std::map<std::string, int> sentences, plots;
  for (const Story& story : make_stories(1, 10000)) {
    texts.insert(story.text());
    ++plots[story.plot];
    for (const std::string& sentence : story.sentences) {
      ++sentences[sentence];
      REQUIRE(sentence.size() > 10);
      REQUIRE(sentence.back() == '.');
      REQUIRE((sentence[0] >= 'A' && sentence[0] <= 'Z'));
      REQUIRE(sentence.find_first_of("{}()|") == std::string::npos);
      REQUIRE(sentence.find("  ") == std::string::npos);
    }
  }
  CHECK(texts.size() > 9900);
  CHECK(plots.size() == story_plots().size());
  for (const auto& [plot, count] : plots) CHECK_MESSAGE(count > 800, plot);
  for (const auto& [sentence, count] : sentences)
    CHECK_MESSAGE(count < 100, sentence);  // That is 1 story in 100.
}

TEST_CASE("who a story begins with comes back later in it") {
  int recur = 0;
  for (const Story& story : make_stories(3, 1000)) {
    const std::string rest = story.text().substr(story.sentences[0].size());
    bool found = false;
    std::string word;
    for (char c : story.sentences[0] + " ") {
      if (std::isalpha(static_cast<unsigned char>(c))) {
        word += c;
      } else {
        if (word.size() > 2 && std::isupper(static_cast<unsigned char>(word[0])) && word != "The" &&
            rest.find(word) != std::string::npos)
          found = true;
        word.clear();
      }
    }
    recur += found;
  }
  CHECK(recur > 800);  // In the others only pronouns come back.
}

TEST_CASE("no story of one split is a story of another") {
  std::set<std::string> train;
  for (const Story& story : make_stories(1, 3000)) {
    CHECK(split_of(story.text()) == Split::train);
    train.insert(story.text());
  }
  for (Split split : {Split::validation, Split::test})
    for (const Story& story : make_stories(1, 300, split)) {
      CHECK(split_of(story.text()) == split);
      CHECK(!train.contains(story.text()));
    }
}

// The middle sentence of the plot "lost" names what the opening gave away, and the ending names
// where it was found.
TEST_CASE("a middle sentence shares what it speaks of with both sides") {
  int shared = 0, told = 0;
  for (const Story& story : make_stories(5, 2000)) {
    if (story.plot != "broken") continue;
    ++told;
    for (const char* part : {"string", "wheel", "sail", "rope", "skin", "pole"}) {
      const bool middle = story.sentences[2].find(part) != std::string::npos;
      const bool after = story.sentences[3].find(part) != std::string::npos ||
                         story.sentences[4].find(part) != std::string::npos;
      if (middle && after) {
        ++shared;
        break;
      }
    }
  }
  REQUIRE(told > 100);
  CHECK(shared > told * 3 / 4);
}

}  // namespace
}  // namespace draftlab
