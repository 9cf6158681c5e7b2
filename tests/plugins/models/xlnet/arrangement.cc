#include "plugins/models/xlnet/arrangement.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/prob/chance.h"

namespace draftlab {
namespace {

Uniforms uniforms(std::uint64_t seed) {
  return [site = Site{seed, 0, Purpose::train, 0, 0}]() mutable {
    site.position++;
    return SampledChance::uniform(7, site);
  };
}

int masked_runs(const std::vector<char>& given) {
  int runs = 0;
  for (std::size_t i = 1; i < given.size(); i++) runs += !given[i] && given[i - 1];
  return runs;
}

TEST_CASE("prompts have the size that was asked for and hold the begin token") {
  const Uniforms uniform = uniforms(1);
  for (int length : {2, 3, 9, 40}) {
    for (int prompt = 1; prompt < length; prompt++) {
      for (PromptShape shape : {PromptShape::scattered, PromptShape::prefix, PromptShape::spans}) {
        const std::vector<char> given = draw_prompt(length, prompt, shape, uniform);
        REQUIRE(static_cast<int>(given.size()) == length);
        CHECK(std::count(given.begin(), given.end(), 1) == prompt);
        CHECK(given[0] == 1);
        if (shape == PromptShape::prefix) CHECK(masked_runs(given) == 1);
        if (shape == PromptShape::spans)
          CHECK((masked_runs(given) >= 1 && masked_runs(given) <= 3));
      }
    }
  }
  CHECK_THROWS_AS(draw_prompt(4, 0, PromptShape::prefix, uniform), Fault);
  CHECK_THROWS_AS(draw_prompt(4, 4, PromptShape::prefix, uniform), Fault);
}

TEST_CASE("scattered prompts are uniform over subsets") {
  const Uniforms uniform = uniforms(2);
  std::map<std::vector<char>, int> seen;
  constexpr int kDraws = 6000;
  for (int i = 0; i < kDraws; i++) seen[draw_prompt(5, 3, PromptShape::scattered, uniform)]++;
  REQUIRE(seen.size() == 6);  // It is a choice of two of four positions beside the first.
  double chi_square = 0;
  for (const auto& [given, count] : seen)
    chi_square += (count - kDraws / 6.0) * (count - kDraws / 6.0) / (kDraws / 6.0);
  CHECK(chi_square < 20.5);  // That is 5 degrees of freedom, p = 0.001.
}

TEST_CASE("spans come in all three numbers, with and without a given end") {
  const Uniforms uniform = uniforms(3);
  std::map<std::pair<int, bool>, int> seen;
  for (int i = 0; i < 300; i++) {
    const std::vector<char> given = draw_prompt(20, 8, PromptShape::spans, uniform);
    seen[{masked_runs(given), given.back() != 0}]++;
  }
  CHECK(seen.size() == 6);
}

TEST_CASE("the lattice ranks prompt and generated positions ascending") {
  const Arrangement lattice = arrange({1, 0, 1, 0, 0}, false, uniforms(4));
  CHECK(lattice.prompt == 2);
  CHECK(lattice.rank == std::vector<std::int32_t>{0, 2, 1, 3, 4});
  // Content of the prompt sees both prompt positions, generated content what was before it and
  // itself, a query only what was.
  CHECK(content_limit(lattice, 0) == 2);
  CHECK(content_limit(lattice, 1) == 3);
  CHECK(query_limit(lattice, 1) == 2);
  CHECK(query_limit(lattice, 4) == 4);
}

TEST_CASE("queries asked ahead see as much as a draft of that depth") {
  Arrangement lattice = arrange({1, 0, 0, 0, 0, 0, 0, 0}, false, uniforms(6));
  ask_ahead(lattice, 0.5, 3, uniforms(7));
  int early = 0;
  for (std::int32_t i = 0; i < 8; i++) {
    CHECK(query_limit(lattice, i) >= 1);
    CHECK(query_limit(lattice, i) <= std::max(1, i));
    CHECK(query_limit(lattice, i) >= i - 3);
    CHECK(content_limit(lattice, i) == std::max(1, i + 1));
    early += query_limit(lattice, i) < i;
  }
  CHECK(early >= 1);
  CHECK(early <= 6);
  ask_ahead(lattice, 0, 3, uniforms(7));
  for (std::int32_t i = 1; i < 8; i++) CHECK(query_limit(lattice, i) == i);
}

TEST_CASE("any permutation shuffles the generated positions only") {
  std::vector<char> given(12, 0);
  given[0] = given[5] = given[6] = 1;
  const Uniforms uniform = uniforms(5);
  std::map<std::vector<std::int32_t>, int> seen;
  for (int i = 0; i < 50; i++) {
    const Arrangement arrangement = arrange(given, true, uniform);
    CHECK(arrangement.rank[0] == 0);
    CHECK(arrangement.rank[5] == 1);
    CHECK(arrangement.rank[6] == 2);
    std::vector<std::int32_t> sorted = arrangement.rank;
    std::sort(sorted.begin(), sorted.end());
    for (std::int32_t rank = 0; rank < 12; rank++) CHECK(sorted[rank] == rank);
    seen[arrangement.rank]++;
  }
  CHECK(seen.size() == 50);  // There are 9! orders.
}

TEST_CASE("low discrepancy puts one point into every stratum") {
  for (double u : {0.0, 0.25, 0.999999}) {
    const std::vector<double> points = low_discrepancy(u, 8);
    for (int i = 0; i < 8; i++) {
      CHECK(points[i] >= i / 8.0);
      CHECK(points[i] < (i + 1) / 8.0);
    }
  }
}

TEST_CASE("mask rates widen from their start") {
  const MaskSchedule schedule{0.15, 0.9, 0.99, 100};
  CHECK(schedule.rate(0.5, 0) == doctest::Approx(0.15));
  CHECK(schedule.rate(0, 50) == doctest::Approx(0.525));
  CHECK(schedule.rate(1, 50) == doctest::Approx(0.57));
  CHECK(schedule.rate(0, 100) == doctest::Approx(0.9));
  CHECK(schedule.rate(1, 100000) == doctest::Approx(0.99));
  CHECK(MaskSchedule{0.15, 0.2, 0.4, 0}.rate(0.5, 0) == doctest::Approx(0.3));
}

TEST_CASE("prompt sizes are those of the ASSD authors") {
  CHECK(prompt_size(0.95, 512) == 26);
  CHECK(prompt_size(1, 96) == 1);
  CHECK(prompt_size(0, 96) == 95);
}

TEST_CASE("the learning rate warms up and decays") {
  const RateSchedule schedule{1, 0.1, 10, 110};
  CHECK(schedule.rate(0) == doctest::Approx(0.1));
  CHECK(schedule.rate(9) == doctest::Approx(1));
  CHECK(schedule.rate(10) == doctest::Approx(1));
  CHECK(schedule.rate(60) == doctest::Approx(0.55));
  CHECK(schedule.rate(110) == doctest::Approx(0.1));
  CHECK(schedule.rate(500) == doctest::Approx(0.1));
}

}  // namespace
}  // namespace draftlab
