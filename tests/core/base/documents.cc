#include "core/base/documents.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "tests/scratch.h"

namespace draftlab {
namespace {

using Rows = std::vector<std::vector<std::string>>;
using Texts = std::vector<std::string>;

TEST_CASE("CSV: quotes hold commas, quotes and line ends") {
  const CsvTable table = parse_csv("a,b\r\n1,\"x, \"\"y\"\"\nz\"\r\n,\n\n2,plain \"q\"", "t.csv");
  CHECK(table.columns == Texts{"a", "b"});
  CHECK(table.rows == Rows{{"1", "x, \"y\"\nz"}, {"", ""}, {"2", "plain \"q\""}});
  CHECK(table.lines == std::vector<std::size_t>{2, 4, 6});
  CHECK(table.column("b") == 1);
}

TEST_CASE("CSV: letters beyond ASCII inside quotes") {
  CHECK(parse_csv("a\n\"caf\xC3\xA9\"\n", "t.csv").rows == Rows{{"caf\xC3\xA9"}});
}

TEST_CASE("CSV: what is wrong is said with the line") {
  CHECK_THROWS_WITH_AS(parse_csv("a,b\n1,2\n3\n", "t.csv"),
                       "'t.csv' line 3 has 1 fields where the header has 2", DataError);
  CHECK_THROWS_WITH_AS(parse_csv("a\n\"x\ny", "t.csv"),
                       "'t.csv' line 2: the quote that opens here is never closed", DataError);
  CHECK_THROWS_WITH_AS(parse_csv("a\n\"x\"y\n", "t.csv"),
                       "'t.csv' line 2: text after a closing quote", DataError);
  CHECK_THROWS_WITH_AS(parse_csv("a,b\n", "t.csv"), "'t.csv' holds no row below its header",
                       DataError);
  CHECK_THROWS_WITH_AS(parse_csv("a,b\n1,2\n", "t.csv").column("text"),
                       "'t.csv' has no column 'text', only a, b", DataError);
}

TEST_CASE("JSON lines") {
  CHECK(parse_jsonl("{\"text\": \"one\"}\r\n\n{\"text\": \"tw\\u00f6\", \"n\": 2}", "t.jsonl",
                    "text") == Texts{"one", "tw\xC3\xB6"});
  CHECK_THROWS_WITH_AS(parse_jsonl("{\"text\": \"a\"}\n{\"text\": 3}", "t.jsonl", "text"),
                       "'t.jsonl' line 2 has no text under 'text'", DataError);
  CHECK_THROWS_WITH_AS(parse_jsonl("[1]\n", "t.jsonl", "text"),
                       "'t.jsonl' item 1 is not a JSON object", DataError);
  CHECK_THROWS_WITH_AS(parse_jsonl("{\"text\"\n", "t.jsonl", "text"),
                       "'t.jsonl' line 1 is not a JSON object", DataError);
}

TEST_CASE("a text file's lines and paragraphs") {
  const testing::File file("\xEF\xBB\xBFone\r\ntwo\n\n \nthree");
  CHECK(read_lines(file.path) == Texts{"one", "two", "three"});
  CHECK(read_paragraphs(file.path) == Texts{"one two", "three"});
}

TEST_CASE("a file that holds no text is refused") {
  const testing::File empty(""), white(" \n\n"), broken("fine\n\xFF\n"), overlong("\xC0\xAF");
  CHECK_THROWS_WITH_AS(read_lines(empty.path), ("'" + empty.path + "' is empty").c_str(),
                       DataError);
  CHECK_THROWS_WITH_AS(read_lines(white.path),
                       ("'" + white.path + "' holds no text: every line is blank").c_str(),
                       DataError);
  CHECK_THROWS_WITH_AS(read_lines(broken.path),
                       ("'" + broken.path + "' is not UTF-8 at line 2").c_str(), DataError);
  CHECK_THROWS_AS(read_lines(overlong.path), DataError);
  CHECK_THROWS_WITH_AS(read_lines("/nowhere/x"), "there is no file '/nowhere/x'", DataError);
  CHECK_THROWS_WITH_AS(read_utf8(white.path, 2),
                       ("'" + white.path + "' has 3 bytes, more than the 2 that are read").c_str(),
                       DataError);
}

}  // namespace
}  // namespace draftlab
