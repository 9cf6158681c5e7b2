// Acceptance exact-match, top-k, distance and typical.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

#include "core/base/error.h"
#include "core/base/npy.h"
#include "tests/plugins/scripted_step.h"

namespace draftlab {
namespace {

using testing::of;
using testing::part;

TEST_CASE("exact match compares with the model's own answer, whatever is drawn") {
  const auto rule = part(&Registries::acceptance, "exact-match");
  const Distribution raw = of({.2, .5, .3}), drawn = Distribution::point(1, 3);
  CHECK(rule->probability({1, drawn, nullptr, 0, raw}) == 1);
  CHECK(rule->probability({2, drawn, nullptr, 0, raw}) == 0);
  CHECK(rule->probability({0, drawn, nullptr, 0, raw}) == 0);
  CHECK(rule->replacement({2, drawn, nullptr, 0, raw}).probability(1) == 1);
}

TEST_CASE("left to the next step, a rejected draft is not replaced, but for a step's first") {
  const auto rule = part(&Registries::acceptance, "exact-match", "replace = false\n");
  const Distribution p = of({0, 1, 0});
  CHECK(rule->replacement({2, p, nullptr, 1}).empty());
  CHECK(rule->replacement({2, p, nullptr, 0}).probability(1) == 1);
}

TEST_CASE("top-k takes the k best, the lower id of equals") {
  const Distribution p = of({.1, .4, .2, .2, .1});
  const auto accepted = [&](const std::string& k) {
    const auto rule = part(&Registries::acceptance, "top-k", "k = " + k + "\n");
    std::string tokens;
    for (Token token = 0; token < 5; ++token)
      if (rule->probability({token, p, nullptr, 0}) == 1) tokens += std::to_string(token);
    return tokens;
  };
  CHECK(accepted("1") == "1");
  CHECK(accepted("2") == "12");
  CHECK(accepted("3") == "123");
  CHECK(accepted("4") == "0123");
}

TEST_CASE("distance keeps a draft near the best, as intensities are near") {
  const Distribution p = of({.1, .1, .1, .6, .1, 0, 0});
  const auto rule = part(&Registries::acceptance, "distance", "epsilon = 2\n");
  CHECK(rule->probability({0, p, nullptr, 0}) == 0);
  CHECK(rule->probability({1, p, nullptr, 0}) == 1);
  CHECK(rule->probability({5, p, nullptr, 0}) == 1);
  CHECK(rule->probability({6, p, nullptr, 0}) == 0);
  CHECK(
      part(&Registries::acceptance, "distance", "epsilon = 0\n")->probability({2, p, nullptr, 0}) ==
      0);
}

TEST_CASE("distance of vectors: a draft is kept near the best token, wherever their ids are") {
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("draftlab_vectors_" + std::to_string(::getpid())))
          .string();
  std::filesystem::create_directories(folder);
  const auto rule = [&](const std::string& name, const std::string& epsilon) {
    return part(&Registries::acceptance, "distance",
                "epsilon = " + epsilon + "\nvectors = " + folder + "/" + name + "\n");
  };
  // Token 2 lies 0.5 from token 0, and token 1 lies 5 from it.
  write_npy(folder + "/plane.npy", {3, 2}, std::vector<float>{0, 0, 3, 4, 0.3F, 0.4F});
  const Distribution p = of({.6, .2, .2});
  CHECK(rule("plane.npy", "0.51")->probability({2, p, nullptr, 0}) == 1);
  CHECK(rule("plane.npy", "0.51")->probability({1, p, nullptr, 0}) == 0);
  CHECK(rule("plane.npy", "5")->probability({1, p, nullptr, 0}) == 1);
  CHECK(rule("plane.npy", "0")->probability({0, p, nullptr, 0}) == 1);
  CHECK_THROWS_WITH_AS(rule("plane.npy", "1")->probability({0, of({1, 0, 0, 0}), nullptr, 0}),
                       doctest::Contains("has rows for 3 tokens, and the model's vocabulary 4"),
                       DataError);
  write_npy(folder + "/line.npy", {3}, std::vector<float>{0, 1, 2});
  CHECK_THROWS_WITH_AS(rule("line.npy", "1"), doctest::Contains("of shape [vocabulary, width]"),
                       DataError);
  std::filesystem::remove_all(folder);
}

TEST_CASE("typical acceptance: min(epsilon, delta exp(-H))") {
  const auto usual = part(&Registries::acceptance, "typical");  // That is .09 and .3.
  const Distribution p = of({.05, .25, .7});  // H = .746 nats, .3 exp(-H) = .142: epsilon decides.
  CHECK(usual->probability({0, p, nullptr, 0}) == 0);
  CHECK(usual->probability({1, p, nullptr, 0}) == 1);
  const auto sure = part(&Registries::acceptance, "typical", "epsilon = 0.5\n");
  const Distribution q = of({.9, .1});  // H = .325, .3 exp(-H) = .217.
  CHECK(sure->probability({1, q, nullptr, 0}) == 0);
  CHECK(sure->probability({0, q, nullptr, 0}) == 1);
  const Distribution flat = Distribution::uniform(100);  // That is .3 / 100 is below .01.
  CHECK(usual->probability({7, flat, nullptr, 0}) == 1);
  CHECK(usual->replacement({0, p, nullptr, 0}).probability(2) == 1);
  CHECK(part(&Registries::acceptance, "typical", "replacement = draw\n")
            ->replacement({0, p, nullptr, 0})
            .probability(2) == doctest::Approx(.7));
}

}  // namespace
}  // namespace draftlab
