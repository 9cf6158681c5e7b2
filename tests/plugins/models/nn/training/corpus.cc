#include "plugins/models/nn/training/corpus.h"

#include <doctest/doctest.h>

#include "tests/plugins/models/letters.h"

namespace draftlab {
namespace {

TEST_CASE("canvases begin with <s> and go on where the uniform says") {
  const Letters letters;
  const TrainingCorpus corpus({"abc", "", "de"}, separated(letters));
  CHECK(corpus.documents() == 2);
  CHECK(corpus.tokens() == 7);  // Abc<sep>de<sep>.
  CHECK(letters.decode(corpus.canvas(4, 0, false)) == ".abc");
  CHECK(letters.decode(corpus.canvas(4, 0.15, false)) == ".bc.");
  CHECK(letters.decode(corpus.canvas(6, 0.99, false)) == "..abc.");
  CHECK(corpus.canvas(3, 0.15, false)[0] == letters.begin());
  CHECK(letters.decode(corpus.canvas(4, 0.15, true)) == ".abc");
  CHECK(letters.decode(corpus.canvas(7, 0.5, true)) == ".de.abc");
}

TEST_CASE("a format says what ends a document and what begins a canvas") {
  const Letters letters;
  DocumentFormat format = separated(letters);
  format.begin.clear();
  format.end = letters.encode("yz");
  const TrainingCorpus corpus({"abc", "de"}, format);
  CHECK(corpus.tokens() == 9);
  CHECK(letters.decode(corpus.canvas(7, 0, false)) == "abcyzde");
  format.encode = [&](const std::string& text) { return letters.encode(text + "x"); };
  CHECK(letters.decode(TrainingCorpus({"a"}, format).canvas(4, 0, true)) == "axyz");
}

TEST_CASE("every n-th document is held out") {
  const Letters letters;
  const auto [training, held_out] = split_corpus({"a", "b", "c", "d", "e"}, 2, separated(letters));
  CHECK(letters.decode(training.canvas(7, 0, true)) == ".a.c.e.");
  CHECK(letters.decode(held_out.canvas(5, 0, true)) == ".b.d.");
  const auto [one, other] = split_corpus({"a", "b"}, 100, separated(letters));
  CHECK(one.documents() == 1);
  CHECK(other.documents() == 1);
}

}  // namespace
}  // namespace draftlab
