#include <set>

#include "core/base/error.h"
#include "tests/plugins/scripted_step.h"

namespace draftlab {
namespace {

using testing::part;

struct Ordering {
  Canvas canvas;
  std::unique_ptr<Frontier> frontier;

  Ordering(int generated, std::uint64_t sequence, const std::string& options = "",
           std::int64_t steps = 0)
      : canvas(generated + 1, std::vector<std::pair<std::int32_t, Token>>{{0, 0}}),
        frontier(part(&Registries::frontiers, "random", options)) {
    DecodeOptions decode;
    decode.steps = steps;
    frontier->begin({}, decode);
    frontier->check(canvas);
    SampledChance chance(1);
    frontier->arrange(canvas, chance, sequence);
  }
  // Fills each step's window; how many positions each had.
  std::vector<int> fill() {
    std::vector<int> sizes;
    while (!frontier->done(canvas)) {
      const Window window = frontier->next(canvas);
      sizes.push_back(window.span);
      for (const std::int32_t position : window.positions) canvas.commit(position, 0);
      frontier->observe(canvas, {}, {});
    }
    return sizes;
  }
};

TEST_CASE("every sequence has an order of its own, and keeps it") {
  std::set<std::vector<std::int32_t>> orders;
  std::vector<int> first(4, 0);
  for (std::uint64_t sequence = 0; sequence < 2400; ++sequence) {
    Ordering ordering(4, sequence);
    const std::vector<std::int32_t> order = ordering.frontier->next(ordering.canvas).positions;
    CHECK(std::set<std::int32_t>(order.begin(), order.end()) == std::set<std::int32_t>{1, 2, 3, 4});
    orders.insert(order);
    ++first[order.front() - 1];
    ordering.canvas.commit(order.front(), 0);
    CHECK(ordering.frontier->next(ordering.canvas).positions ==
          std::vector<std::int32_t>(order.begin() + 1, order.end()));
  }
  CHECK(orders.size() == 24);
  // That is 4 standard deviations.
  for (const int times : first) CHECK(std::abs(times - 600) < 85);
}

TEST_CASE("MAR's cosine schedule: 256 steps are one token each, 64 are 1 to 7") {
  CHECK(Ordering(256, 0, "schedule = cosine", 256).fill() == std::vector<int>(256, 1));
  const std::vector<int> sizes = Ordering(256, 0, "schedule = cosine", 64).fill();
  CHECK(sizes.size() == 64);
  CHECK(*std::min_element(sizes.begin(), sizes.end()) == 1);
  CHECK(*std::max_element(sizes.begin(), sizes.end()) == 7);
  CHECK(sizes.front() == 1);  // That is 256 - floor(256 cos(pi / 128)) = 256 - 255.
  CHECK_THROWS_WITH_AS(
      Ordering(4, 0, "schedule = cosine", 5),
      doctest::Contains(
          "decode.steps = 5 steps of a cosine schedule, but there are 4 positions to fill"),
      ConfigError);
  CHECK_THROWS_WITH_AS(Ordering(4, 0, "schedule = cosine"), doctest::Contains("set decode.steps"),
                       ConfigError);
}

}  // namespace
}  // namespace draftlab
