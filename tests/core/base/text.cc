#include "core/base/text.h"

#include <doctest/doctest.h>

namespace draftlab {
namespace {

TEST_CASE("words are put together") {
  CHECK(joined({}) == "");
  CHECK(joined({"a"}) == "a");
  CHECK(joined({"a", "b", "c"}) == "a, b, c");
  CHECK(joined({"a", "b"}, "\n") == "a\nb");
}

TEST_CASE("the first sentence of a comment") {
  CHECK(first_sentence("") == "");
  CHECK(first_sentence("ASSD, Table 1: k = 0.5.\nPaper: 3.") == "ASSD, Table 1: k = 0.5.");
  CHECK(first_sentence("How far\ncould it go? An hour.") == "How far could it go?");
  CHECK(first_sentence("A title\nPaper: 3") == "A title");
  CHECK(first_sentence("A title\n  draftlab run") == "A title");
  CHECK(first_sentence("No end") == "No end");
}

TEST_CASE("a text that is shown in one line has no control characters") {
  CHECK(one_line("a\nb\x1b[31mc\x7f\td") == "a b [31mc  d");
  CHECK(one_line("caf\xc3\xa9 \xe2\x88\x9e") == "caf\xc3\xa9 \xe2\x88\x9e");
}

}  // namespace
}  // namespace draftlab
