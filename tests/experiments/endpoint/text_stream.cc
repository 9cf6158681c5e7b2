#include "experiments/endpoint/text_stream.h"

#include <doctest/doctest.h>

using namespace draftlab;

TEST_CASE("a text is handed over as it grows") {
  TextStream stream({});
  CHECK(stream.grow("Once", false) == "Once");
  CHECK(stream.grow("Once", false).empty());
  CHECK(stream.grow("Once upon", true) == " upon");
  CHECK(stream.handed() == "Once upon");
  CHECK(!stream.stopped());
}

TEST_CASE("a text ends before the first stop, and what may begin one is kept back") {
  TextStream stream({"\nThe", "END"});
  CHECK(stream.grow("one\nTh", false) == "one");
  CHECK(stream.grow("one\nThis E", false) == "\nThis ");
  CHECK(stream.grow("one\nThis EN", false).empty());
  CHECK(stream.grow("one\nThis END and\nThe", false).empty());
  CHECK(stream.stopped());
  CHECK(stream.grow("one\nThis END and more", true).empty());
  CHECK(stream.handed() == "one\nThis ");
}

TEST_CASE("of two stops the one that stands first ends the text") {
  TextStream stream({"b", "a"});
  CHECK(stream.grow("xxaxb", true) == "xx");
}

TEST_CASE("what looked like a stop is handed over where the text is whole") {
  TextStream stream({"END"});
  CHECK(stream.grow("the EN", false) == "the ");
  CHECK(stream.grow("the EN", true) == "EN");
}

TEST_CASE("a character is handed over whole") {
  TextStream stream({});
  CHECK(stream.grow("caf\xC3", false) == "caf");
  CHECK(stream.grow("caf\xC3\xA9", false) == "\xC3\xA9");
  CHECK(stream.grow("caf\xC3\xA9\xF0\x9F\x98", false).empty());
  CHECK(stream.grow("caf\xC3\xA9\xEF\xBF\xBD", false).empty());  // U+FFFD: bytes that are no text.
  CHECK(stream.grow("caf\xC3\xA9\xF0\x9F\x98\x80", false) == "\xF0\x9F\x98\x80");
}
