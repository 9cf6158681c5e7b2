// The check value of AUP, and the points that count.
#include "analysis/report/aup.h"

#include <doctest/doctest.h>

#include "core/base/error.h"
#include "tests/analysis/traces.h"

namespace draftlab {
namespace {

double area(std::vector<AupPoint> points, double best) { return aup(points, best); }

TEST_CASE("AUP of three settings, in whatever order they come") {
  CHECK(area({{1, 80}, {2, 79}, {4, 76}}, 80) == doctest::Approx(299.552344708).epsilon(1e-10));
  CHECK(area({{4, 76}, {1, 80}, {2, 79}}, 80) == doctest::Approx(299.552344708).epsilon(1e-10));
  CHECK(area({{1, 80}}, 80) == 80);
  // A better method lowers it, except before the first point.
  CHECK(area({{1, 80}, {2, 79}, {4, 76}}, 90) < 299);
  CHECK(area({{1, 80}}, 90) == 80);
}

TEST_CASE(
    "a setting in between that lost more than 5 points does not count; at the end it may not") {
  CHECK(area({{1, 80}, {2, 74.9}, {3, 80}}, 80) == doctest::Approx(80 + 2 * 80));
  CHECK(area({{1, 80}, {2, 75}, {3, 80}}, 80) < 80 + 2 * 80);
  CHECK_THROWS_AS(area({{1, 80}, {2, 74.9}}, 80), DataError);
}

}  // namespace
}  // namespace draftlab
