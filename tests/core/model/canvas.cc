#include "core/model/canvas.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/base/error.h"

namespace draftlab {

using Given = std::vector<std::pair<std::int32_t, Token>>;

TEST_CASE("a canvas knows prompt, masks and order of commitment") {
  Canvas canvas(5, Given{{2, 7}});
  CHECK(canvas.masked_positions() == std::vector<std::int32_t>{0, 1, 3, 4});
  canvas.commit(3, 1);
  canvas.commit(0, 2);
  CHECK(canvas.order() == std::vector<std::int32_t>{3, 0});
  CHECK(canvas.tokens() == std::vector<Token>{2, kNoToken, 7, 1, kNoToken});
  CHECK(canvas.prompt_size() == 1);
  CHECK(canvas.given(2));
  CHECK_FALSE(canvas.given(3));

  Canvas other(5, Given{{2, 7}});
  other.commit(0, 2);
  other.commit(3, 1);
  CHECK(other.tokens() == canvas.tokens());
  CHECK(other.key() != canvas.key());  // The order is part of the state.
}

TEST_CASE("only masked positions are committed and only tentative ones edited") {
  Canvas canvas(3, Given{{0, 1}});
  CHECK_THROWS_AS(canvas.commit(0, 1), Fault);
  CHECK_THROWS_AS(canvas.commit(3, 1), Fault);
  CHECK_THROWS_AS(canvas.commit(1, kNoToken), Fault);
  canvas.commit(1, 1, true);
  canvas.edit(1, 2);
  CHECK(canvas.token(1) == 2);
  CHECK_FALSE(canvas.masked(1));
  canvas.commit(2, 2);
  CHECK_THROWS_AS(canvas.edit(2, 1), Fault);
}

TEST_CASE("a token that is taken back was never there, and only tentative ones are") {
  Canvas canvas(3, Given{{0, 1}});
  const std::string before = canvas.key();
  canvas.commit(1, 1, true, Eigen::VectorXd::Ones(2));
  canvas.commit(2, 2);
  CHECK_THROWS_AS(canvas.take_back(2), Fault);
  CHECK_THROWS_AS(canvas.take_back(0), Fault);
  CHECK_THROWS_AS(canvas.take_back(3), Fault);
  canvas.take_back(1);
  CHECK(canvas.masked(1));
  CHECK_FALSE(canvas.tentative(1));
  CHECK(canvas.order() == std::vector<std::int32_t>{2});
  CHECK(canvas.value(1).size() == 0);
  CHECK_THROWS_AS(canvas.take_back(1), Fault);
  canvas.commit(1, 2);
  CHECK(canvas.order() == std::vector<std::int32_t>{2, 1});
}

TEST_CASE("what a masked position shows is part of the key until a token stands there") {
  Canvas canvas(3, Given{{0, 1}});
  const std::string before = canvas.key();
  CHECK(canvas.shown(0) == 1);
  CHECK(canvas.shown(1) == kNoToken);
  CHECK_THROWS_AS(canvas.show(0, 2), Fault);
  CHECK_THROWS_AS(canvas.show(3, 2), Fault);
  CHECK_THROWS_AS(canvas.show(1, kNoToken), Fault);
  canvas.show(1, 2);
  CHECK(canvas.masked(1));
  CHECK(canvas.token(1) == kNoToken);
  CHECK(canvas.shown(1) == 2);
  CHECK(canvas.shown(2) == kNoToken);
  const std::string shows = canvas.key();
  CHECK(shows != before);
  canvas.show(1, 0);
  CHECK(canvas.key() != shows);
  canvas.commit(1, 1, true);
  CHECK(canvas.shown(1) == 1);
  canvas.take_back(1);
  CHECK(canvas.shown(1) == kNoToken);
}

TEST_CASE("a broken prompt is a fault") {
  CHECK_THROWS_AS(Canvas(3, Given{{3, 0}}), Fault);
  CHECK_THROWS_AS(Canvas(3, Given{{-1, 0}}), Fault);
  CHECK_THROWS_AS(Canvas(3, (Given{{1, 0}, {1, 0}})), Fault);
  CHECK_THROWS_AS(Canvas(3, Given{{1, kNoToken}}), Fault);
}

TEST_CASE("a position may hold a vector, which is part of the key") {
  Canvas canvas(3, Given{{0, 1}});
  CHECK(canvas.value(1).size() == 0);
  canvas.commit(1, 0, false, Eigen::VectorXd::Constant(2, 0.5));
  Canvas other = canvas;
  canvas.commit(2, 0, false, Eigen::VectorXd::Constant(2, 1));
  other.commit(2, 0, false, Eigen::VectorXd::Constant(2, std::nextafter(1.0, 2)));
  CHECK(canvas.value(1) == Eigen::VectorXd::Constant(2, 0.5));
  CHECK(canvas.value(0).size() == 0);
  CHECK_FALSE(canvas.masked(2));
  CHECK(canvas.key() != other.key());
}

}  // namespace draftlab
