#include "plugins/tokenizers/sentencepiece.h"

#include <doctest/doctest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/config/plugin.h"
#include "core/config/train.h"
#include "plugins/builtin.h"
#include "plugins/tasks/stories/stories.h"
#include "plugins/tokenizers/tokenizer.h"
#include "plugins/tokenizers/xlnet_text.h"

namespace draftlab {
namespace {

std::filesystem::path folder(const std::string& name) {
  return std::filesystem::temp_directory_path() /
         ("draftlab_tokenizer_" + std::to_string(getpid()) + "_" + name);
}

std::string train(const std::string& name, const std::string& ini) {
  Registries registries;
  register_trainer_tokenizer(registries);
  Diagnostics diagnostics;
  const Config config = Config::parse(ini, "test.ini", diagnostics);
  const auto bound =
      registries.trainers.find("tokenizer")->bind(config, "trainer.tokenizer", diagnostics);
  diagnostics.raise();
  std::filesystem::remove_all(folder(name));
  bound.make()->run({registries, config, {}, 1, folder(name).string(), false});
  std::ifstream in(folder(name) / "spiece.model", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_CASE("XLNet's cleaning of text") {
  CHECK(clean_text("  a \t\n b\xC2\xA0 ") == "a b");
  CHECK(clean_text("``Oh'' it's") == "\"Oh\" it's");
  CHECK(clean_text("Caf\xC3\xA9 e\xCC\x81t\xC3\xA9 \xC5\xBD\xC3\x9F") == "Cafe ete Z\xC3\x9F");
  CHECK(clean_text("\xE2\x82\xAC \xF0\x9F\x90\x88") == "\xE2\x82\xAC \xF0\x9F\x90\x88");
  CHECK(clean_text(" ").empty());
}

TEST_CASE(
    "UTF-8: overlong forms, surrogates, stray and missing continuation bytes are refused where "
    "they begin") {
  CHECK(invalid_utf8("a\xE2\x82\xAC\xF4\x8F\xBF\xBF") == std::string::npos);
  CHECK(invalid_utf8("ab\x80") == 2);
  CHECK(invalid_utf8("a\xC1\xBF") == 1);
  CHECK(invalid_utf8("\xE0\x9F\xBF") == 0);
  CHECK(invalid_utf8("\xED\xA0\x80") == 0);
  CHECK(invalid_utf8("\xF4\x90\x80\x80") == 0);
  CHECK(invalid_utf8("ab\xE2\x82") == 2);
}

TEST_CASE("a tokenizer of the stories: special ids, round trip, and the same file twice") {
  const std::string ini = "[trainer.tokenizer]\nstories = 2000\nvocabulary = 1000\n";
  const std::string first = train("first", ini), second = train("second", ini);
  REQUIRE(!first.empty());
  CHECK(first == second);
  const std::unique_ptr<Tokenizer> tokenizer = open_tokenizer(folder("first").string());
  for (int id = 0; id < 9; ++id) CHECK(tokenizer->piece(id) == kSpecialPieces[id]);
  CHECK(tokenizer->vocabulary() > 700);
  CHECK(tokenizer->vocabulary() <= 1000);
  CHECK(tokenizer->begin() == 1);
  CHECK(tokenizer->mask() == 6);
  int tokens = 0;
  for (const Story& story : make_stories(9, 200, Split::test)) {
    const std::vector<Token> ids = tokenizer->encode(story.text());
    tokens += static_cast<int>(ids.size());
    for (Token id : ids) REQUIRE(id >= 9);  // There is neither <unk> nor a special token.
    REQUIRE(tokenizer->decode(ids) == story.text());
  }
  CHECK(tokens / 200 > 45);
  CHECK(tokens / 200 < 80);

  // A special piece written out in a text is no special token, and a decoded one is literal.
  for (Token id : tokenizer->encode("<sep><mask>")) CHECK(id >= 9);
  CHECK(tokenizer->decode({tokenizer->encode("Tom")[0], 4, 3, 2}) == "Tom<sep><cls></s>");
  CHECK(tokenizer->encode("").empty());
  CHECK(tokenizer->encode("a \n b") == tokenizer->encode(" a b "));
  CHECK_THROWS_WITH_AS(tokenizer->encode("a\xFF"), "text to encode is not UTF-8 at byte 1",
                       DataError);
  CHECK_THROWS_AS(tokenizer->decode({-1}), DataError);
  CHECK_THROWS_AS(tokenizer->piece(tokenizer->vocabulary()), DataError);
  std::filesystem::remove_all(folder("first"));
  std::filesystem::remove_all(folder("second"));
}

TEST_CASE("a number loses its comma") {
  std::filesystem::create_directories(folder("numbers"));
  {
    std::ofstream text(folder("numbers") / "text");
    for (int i = 0; i < 300; ++i) text << "In 1990, or in 7, there were " << i << " of them.\n";
  }
  train("digits", "[trainer.tokenizer]\nvocabulary = 140\ntext = " +
                      (folder("numbers") / "text").string() + "\n");
  const auto tokenizer = open_tokenizer(folder("digits").string());
  const std::vector<Token> ids = tokenizer->encode("in 1990, or");
  for (Token id : ids) {
    const std::string piece = tokenizer->piece(id);
    CHECK_FALSE((piece.size() > 1 && piece.back() == ','));
  }
  CHECK(tokenizer->decode(ids) == "in 1990, or");
  std::filesystem::remove_all(folder("numbers"));
  std::filesystem::remove_all(folder("digits"));
}

// XLNet's own vocabulary is not part of the project; DRAFTLAB_XLNET names a folder that has its
// spiece.model.
TEST_CASE("the published vocabulary of XLNet: known ids") {
  const char* const named = std::getenv("DRAFTLAB_XLNET");
  if (!named) {
    std::cout << "no spiece.model of XLNet (set DRAFTLAB_XLNET to its folder); its ids are not "
                 "compared\n";
    return;
  }
  CHECK(open_tokenizer(named)->encode("The quick brown fox jumps over the lazy dog.") ==
        std::vector<Token>{32, 2049, 3442, 17, 13894, 3380, 23, 95, 18, 17634, 2288, 9});
}

TEST_CASE("what is no tokenizer is refused") {
  CHECK_THROWS_WITH_AS(open_tokenizer("/nowhere"),
                       "'/nowhere' has no tokenizer: there is neither spiece.model, nor "
                       "levels.json, nor tokenizer.json, nor vocab.json and merges.txt in "
                       "'/nowhere', which is no folder",
                       DataError);
  std::filesystem::create_directories(folder("bad"));
  std::ofstream(folder("bad") / "spiece.model") << "not a model";
  CHECK(has_tokenizer(folder("bad").string()));
  CHECK_THROWS_AS(open_tokenizer(folder("bad").string()), DataError);
  std::filesystem::remove_all(folder("bad"));
}

TEST_CASE("a tokenizer that cannot be written leaves nothing") {
  std::ofstream(folder("file")) << "x";
  CHECK_THROWS_AS(
      [&] {
        Registries registries;
        register_trainer_tokenizer(registries);
        Diagnostics diagnostics;
        const Config config = Config::parse("[trainer.tokenizer]\nstories = 50\nvocabulary = 200\n",
                                            "t.ini", diagnostics);
        registries.trainers.find("tokenizer")
            ->bind(config, "trainer.tokenizer", diagnostics)
            .make()
            ->run({registries, config, {}, 1, (folder("file") / "in").string(), false});
      }(),
      OutputError);
  std::filesystem::remove(folder("file"));
}

}  // namespace
}  // namespace draftlab
