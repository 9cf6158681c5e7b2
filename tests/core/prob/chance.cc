#include "core/prob/chance.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "core/base/error.h"

namespace draftlab {

namespace {

Distribution pair(double first) {
  Eigen::ArrayXd weights(2);
  weights << first, 1 - first;
  return Distribution(weights);
}

}  // namespace

// The known answers of Random123's kat_vectors.
TEST_CASE("Philox 4x32-10") {
  using Words = std::array<std::uint32_t, 4>;
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr std::uint32_t ones = 0xffffffff;
  CHECK(philox({ones, ones, ones, ones}, {ones, ones}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a uniform depends on every field of its site, and on nothing else") {
  const Site site{
      .sequence = 7, .position = 3, .purpose = Purpose::accept, .clock = 2, .attempt = 1};
  const double u = SampledChance::uniform(1, site);
  CHECK(u == SampledChance::uniform(1, site));
  CHECK(u != SampledChance::uniform(2, site));
  for (int field = 0; field < 5; ++field) {
    Site other = site;
    if (field == 0) ++other.sequence;
    if (field == 1) ++other.position;
    if (field == 2) other.purpose = Purpose::residual;
    if (field == 3) ++other.clock;
    if (field == 4) ++other.attempt;
    CHECK(u != SampledChance::uniform(1, other));
  }
}

TEST_CASE("uniforms are uniform and normals normal: moments of 20,000") {
  SampledChance chance(5);
  double sum = 0, squares = 0, normal = 0, normal_squares = 0;
  constexpr int count = 20000;
  for (int i = 0; i < count; ++i) {
    const double u = SampledChance::uniform(5, {.position = i});
    REQUIRE(u >= 0);
    REQUIRE(u < 1);
    sum += u;
    squares += u * u;
    const double z = chance.normal({.position = i, .purpose = Purpose::train});
    normal += z;
    normal_squares += z * z;
  }
  CHECK(std::abs(sum / count - .5) < 4 * std::sqrt(1 / 12. / count));
  CHECK(std::abs(squares / count - 1 / 3.) < 4 * std::sqrt(4 / 45. / count));
  CHECK(std::abs(normal / count) < 4 / std::sqrt(count));
  CHECK(std::abs(normal_squares / count - 1) < 4 * std::sqrt(2. / count));
}

TEST_CASE("several probabilities share one uniform") {
  SampledChance chance(3);
  const Site site{.position = 1, .purpose = Purpose::accept};
  const double u = SampledChance::uniform(3, site);
  const std::array probabilities{u / 2, u, std::nextafter(u, 1.0), 1.0, 0.0};
  CHECK(chance.below(probabilities, site) == std::vector<bool>{false, false, true, true, false});
}

TEST_CASE("a site drawn twice is a fault that names it") {
  SampledChance chance(3);
  const Site site{
      .sequence = 9, .position = 4, .purpose = Purpose::residual, .clock = 2, .attempt = 1};
  chance.draw(pair(.5), site);
  try {
    chance.below(.5, site);
    FAIL("no fault");
  } catch (const Fault& fault) {
    CHECK(std::string(fault.what()) ==
          "site (sequence 9, position 4, residual, clock 2, attempt 1) was drawn twice in one "
          "decode; every draw has a position, purpose or attempt of its own");
  }
  CHECK(chance.below(
      1, {.sequence = 9, .position = 4, .purpose = Purpose::residual, .clock = 2, .attempt = 2}));
}

// A coin of .25; on heads a second of .5. Outcomes: HH .125, HT .125, T .75.
TEST_CASE("two coins are walked through all outcomes") {
  EnumeratedChance chance;
  std::map<std::string, double> outcomes;
  std::map<std::string, std::vector<int>> choices;
  do {
    chance.begin();
    std::string outcome = chance.draw(pair(.25), {.position = 0}) == 0 ? "H" : "T";
    if (outcome == "H") outcome += chance.below(.5, {.position = 1}) ? "H" : "T";
    CHECK(outcomes.count(outcome) == 0);
    outcomes[outcome] = chance.weight();
    choices[outcome] = chance.choices();
  } while (chance.next());
  CHECK(outcomes == std::map<std::string, double>{{"HH", .125}, {"HT", .125}, {"T", .75}});
  CHECK(chance.dropped() == 0);

  SUBCASE("from the middle: heads is forced") {
    EnumeratedChance rest({choices["HH"][0]});
    double total = 0;
    int walked = 0;
    do {
      rest.begin();
      CHECK(rest.draw(pair(.25), {.position = 0}) == 0);
      rest.below(.5, {.position = 1});
      total += rest.weight();
      ++walked;
    } while (rest.next());
    CHECK(total == 1);
    CHECK(walked == 2);
  }
}

TEST_CASE("one uniform against several probabilities is enumerated by intervals") {
  EnumeratedChance chance;
  const std::array probabilities{.5, .2, 1.5, .5, -1.0};
  std::vector<std::pair<std::vector<bool>, double>> outcomes;
  do {
    chance.begin();
    auto outcome = chance.below(probabilities, {.purpose = Purpose::accept});
    outcomes.emplace_back(outcome, chance.weight());
  } while (chance.next());
  REQUIRE(outcomes.size() == 3);
  CHECK(outcomes[0].first == std::vector<bool>{true, true, true, true, false});
  CHECK(outcomes[1].first == std::vector<bool>{true, false, true, true, false});
  CHECK(outcomes[2].first == std::vector<bool>{false, false, true, false, false});
  CHECK(outcomes[0].second == doctest::Approx(.2));
  CHECK(outcomes[1].second == doctest::Approx(.3));
  CHECK(outcomes[2].second == doctest::Approx(.5));
}

TEST_CASE("negligible outcomes are dropped and accounted for") {
  EnumeratedChance chance;
  int walked = 0;
  do {
    chance.begin();
    if (chance.below(.5, {.position = 0})) chance.draw(pair(1 - 8e-14), {.position = 1});
    ++walked;
  } while (chance.next());
  CHECK(walked == 2);
  CHECK(chance.dropped() == doctest::Approx(4e-14).epsilon(1e-2).scale(0));
  chance.begin();
  CHECK_THROWS_AS(chance.normal({}), Fault);
}

TEST_CASE(
    "a shared number is read again, with any distribution, and never mixed with its own draws") {
  SampledChance chance(3);
  const Site site{.position = 4};
  const Token first = chance.draw_shared(pair(.3), site, Noise::uniform);
  CHECK(chance.draw_shared(pair(.3), site, Noise::uniform) == first);
  CHECK(first == pair(.3).quantile(SampledChance::uniform(3, site)));
  CHECK_THROWS_AS(chance.draw_shared(pair(.3), site, Noise::own), Fault);
}

// Outcomes of two reads with p = (.5, .5) and (.2, .8): the uniform lies below .2, between, or
// above.
TEST_CASE("enumerated reads of one number share its place") {
  EnumeratedChance chance;
  const Site site{.position = 4, .clock = 2};
  std::map<std::pair<Token, Token>, double> seen;
  const auto all = [](std::int32_t) { return true; };
  std::set<std::string> said;
  do {
    chance.begin();
    CHECK(chance.known(all).empty());
    const Token p = chance.draw_shared(pair(.5), site, Noise::uniform),
                q = chance.draw_shared(pair(.2), site, Noise::uniform);
    CHECK(chance.draw_shared(pair(.5), site, Noise::uniform) == p);
    seen[{p, q}] += chance.weight();
    said.insert(chance.known(all));
    CHECK(chance.known([](std::int32_t position) { return position != 4; }).empty());
  } while (chance.next());
  CHECK(said.size() == 3);
  REQUIRE(seen.size() == 3);
  CHECK(seen[{0, 0}] == doctest::Approx(.2));
  CHECK(seen[{0, 1}] == doctest::Approx(.3));
  CHECK(seen[{1, 1}] == doctest::Approx(.5));
  chance.begin();
  CHECK_THROWS_AS(chance.draw_shared(pair(.5), site, Noise::gumbel), ConfigError);
}

// The law of the target, and the probability that both draws agree: sum of 1 / sum of max(p_y/p_x,
// q_y/q_x).
TEST_CASE("Gumbel noise draws each law, and couples two of them") {
  const auto couple = [](const Distribution& p, const Distribution& q) {
    constexpr int count = 100000;
    int alike = 0;
    std::vector<int> drawn(static_cast<std::size_t>(p.size()));
    SampledChance chance(11);
    for (int i = 0; i < count; ++i) {
      const Site site{.sequence = 5, .position = i};
      const Token x = chance.draw_shared(p, site, Noise::gumbel);
      ++drawn[static_cast<std::size_t>(x)];
      alike += x == chance.draw_shared(q, site, Noise::gumbel);
    }
    for (Token token = 0; token < p.size(); ++token)
      CHECK(std::abs(drawn[static_cast<std::size_t>(token)] / double{count} -
                     p.probability(token)) < .006);
    return alike / double{count};
  };
  const Distribution p1(Eigen::Array3d(.5, .3, .2)), q1(Eigen::Array3d(.2, .5, .3)),
      p3(Eigen::Array4d(.4, .3, .2, .1)), q3(Eigen::Array4d(.1, .2, .3, .4));
  CHECK(std::abs(couple(p1, q1) - .693548387) < .006);
  CHECK(std::abs(couple(p3, q3) - .542857143) < .006);
}

// One outcome in two shows 2 branches and one in four each of two shows 4: three on average.
TEST_CASE("probes estimate the number of outcomes") {
  EnumeratedChance chance;
  double sum = 0;
  constexpr int trials = 4000;
  for (int trial = 0; trial < trials; ++trial) {
    chance.probe(static_cast<std::uint64_t>(trial));
    if (chance.draw(pair(.25), {.position = 0}) == 0) chance.below(.01, {.position = 1});
    sum += chance.branches();
  }
  CHECK(std::abs(sum / trials - 3) < 4 / std::sqrt(trials));
}

TEST_CASE("stable hashes: pinned, so that ids and random sites stay what they are") {
  CHECK(stable_hash("") == 0xefd01f60ba992926ULL);
  CHECK(stable_hash("draftlab") == 0x4c85982f03f314fdULL);
  CHECK(stable_hash("draftlab", 1) == 0x9fc3059750281c09ULL);
}

}  // namespace draftlab
