#include "core/base/count_text.h"

#include <doctest/doctest.h>

namespace draftlab {

TEST_CASE("large numbers have three digits and a unit") {
  CHECK(count_text(0) == "0");
  CHECK(count_text(855) == "855");
  CHECK(count_text(999) == "999");
  CHECK(count_text(1000) == "1k");
  CHECK(count_text(1634720) == "1.63M");
  CHECK(count_text(30011520) == "30M");
  CHECK(count_text(999499) == "999k");
  CHECK(count_text(999500) == "1M");
  CHECK(count_text(4100000000) == "4.1B");
}

}  // namespace draftlab
