#include "core/loop/reading.h"

#include <doctest/doctest.h>

namespace draftlab {
namespace {

Canvas canvas(const std::vector<Token>& committed) {
  Canvas made(6, std::vector<std::pair<std::int32_t, Token>>{{0, 7}});
  for (const Token token : committed) made.commit(made.committed() + 1, token);
  return made;
}

// A path of drafts behind the committed tokens, asked at its end.
Question path(const Canvas& on, const std::vector<Token>& drafts) {
  Question question;
  for (const Token token : drafts) {
    const int parent = static_cast<int>(question.nodes.size()) - 1;
    question.nodes.push_back({parent, on.committed() + 2 + parent, token});
  }
  const int last = static_cast<int>(drafts.size()) - 1;
  question.asks.push_back({last, {on.committed() + 2 + last}});
  return question;
}

TEST_CASE("reading: drafts that grow or are committed go on; a token in their place does not") {
  Reading reading(6);
  const Canvas none = canvas({});
  CHECK(reading.goes_on(none, path(none, {})));
  CHECK(reading.goes_on(none, path(none, {1})));
  CHECK(reading.goes_on(none, path(none, {1, 2})));
  const Canvas first = canvas({1});
  CHECK(reading.goes_on(first, path(first, {2, 3})));
  const Canvas both = canvas({1, 2});
  CHECK_FALSE(reading.goes_on(both, path(both, {4})));
  CHECK(reading.goes_on(both, path(both, {4, 5})));
}

TEST_CASE("reading: a state before the last one is not asked") {
  Reading reading(6);
  const Canvas none = canvas({});
  CHECK(reading.goes_on(none, path(none, {1, 2})));
  Question inner = path(none, {1, 2});
  inner.asks[0] = {0, {2}};
  CHECK_FALSE(reading.goes_on(none, inner));
}

TEST_CASE("reading: a tree branches, a path does not") {
  const Canvas none = canvas({});
  CHECK_FALSE(branches(path(none, {1, 2})));
  Question tree = path(none, {1, 2});
  tree.nodes.push_back({0, 2, 3});
  CHECK(branches(tree));
}

}  // namespace
}  // namespace draftlab
