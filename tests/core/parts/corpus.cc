#include "core/parts/corpus.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include "core/base/error.h"
#include "tests/scratch.h"

namespace draftlab {
namespace {

std::string file(const std::string& text) {
  static int files = 0;
  const std::string path = testing::scratch("tokens-" + std::to_string(files++) + ".txt");
  std::ofstream(path) << text;
  return path;
}

TEST_CASE("a corpus finds where a run of tokens goes on, and no run goes across texts") {
  const auto corpus = Corpus::read(file("1 2 3\n\n2 3  1\n3\n"));
  CHECK(corpus->tokens() == std::vector<Token>{1, 2, 3, kNoToken, 2, 3, 1, kNoToken, 3, kNoToken});
  CHECK(corpus->size() == 7);
  CHECK(corpus->counts() == std::vector<std::int64_t>{0, 2, 2, 3});
  const auto behind = [&](std::vector<Token> run) {
    std::vector<std::int32_t> places = corpus->behind(run);
    std::sort(places.begin(), places.end());
    return places;
  };
  CHECK(behind({2, 3}) == std::vector<std::int32_t>{3, 6});
  CHECK(behind({3}) == std::vector<std::int32_t>{3, 6, 9});
  CHECK(behind({3, 2}).empty());
  CHECK(behind({4}).empty());
  CHECK(behind({2, 3, 1}) == std::vector<std::int32_t>{7});
}

TEST_CASE("a file is read once, for all parts that name it") {
  const std::string path = file("1 2\n");
  const Corpus* const one = Corpus::read(path).get();
  CHECK(one == Corpus::read(path).get());
}

TEST_CASE("a word that is no token id is refused with its line") {
  CHECK_THROWS_WITH_AS(Corpus::read(file("1 2\n3 four\n")), doctest::Contains(":2: 'four' is no"),
                       DataError);
  CHECK_THROWS_AS(Corpus::read(file("1 -2\n")), DataError);
  CHECK_THROWS_AS(Corpus::read(file("1 2.5\n")), DataError);
  CHECK_THROWS_WITH_AS(Corpus::read(file(" \n")), doctest::Contains("has no text"), DataError);
  CHECK_THROWS_AS(Corpus::read("/nowhere/corpus.txt"), DataError);
}

}  // namespace
}  // namespace draftlab
