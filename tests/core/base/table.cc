// Tables as text, and in Markdown.
#include "core/base/table.h"

#include <doctest/doctest.h>

namespace draftlab {

TEST_CASE("a table in Markdown is a paragraph of its own, and its cells hold what they say") {
  const TextTable table{{"arm", "value"}, {{"a|b", "1"}, {"c", "-"}}};
  CHECK(table.in(TableForm::markdown) ==
        "\n| arm | value |\n| --- | --- |\n| a\\|b | 1 |\n| c | - |\n");
  CHECK(table.in(TableForm::text) == "arm  value\na|b      1\nc        -\n");
}

}  // namespace draftlab
