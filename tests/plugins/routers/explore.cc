// A router that is sometimes reversed, and says how often.
#include <doctest/doctest.h>

#include <sstream>

#include "core/config/composition.h"
#include "core/loop/decoder.h"
#include "plugins/builtin.h"

using namespace draftlab;

namespace {

const Registries& registries() {
  static const Registries all = [] {
    Registries made;
    register_builtin_plugins(made);
    return made;
  }();
  return all;
}

Composition exploring(const std::string& lines) {
  Diagnostics diagnostics;
  Composition arm =
      compose(Config::parse(
                  "model = table\ntask = positions\nestimator = entropy\nmodel.table.length = 8\n" +
                      lines + "\n[task.positions]\nlength = 8\nprompt = 0:1\n",
                  "a.ini", diagnostics),
              registries(), diagnostics);
  diagnostics.raise();
  return arm;
}

}  // namespace

TEST_CASE("the options of both routers stand in one section, and are what the arm is known by") {
  const Composition arm = exploring(
      "router = explore\nrouter.explore.of = hysteresis\nrouter.explore.epsilon = "
      "0.2\nrouter.explore.on = 2");
  CHECK(arm.resolved.find("of = hysteresis") != std::string::npos);
  CHECK(arm.resolved.find("on = 2") != std::string::npos);
  CHECK(arm.id != exploring("router = explore\nrouter.explore.of = "
                            "hysteresis\nrouter.explore.epsilon = 0.2\nrouter.explore.on = 3")
                      .id);
  // What a trace records of it can be run again.
  Diagnostics diagnostics;
  CHECK(compose(Config::parse(arm.resolved, "again.ini", diagnostics), registries(), diagnostics)
            .id == arm.id);
  CHECK(diagnostics.empty());
}

TEST_CASE("an option of neither, and a router that cannot be explored, are refused") {
  CHECK_THROWS_WITH_AS(
      exploring("router = explore\nrouter.explore.onn = 2\nrouter.explore.of = hysteresis"),
      doctest::Contains("onn"), ConfigError);
  CHECK_THROWS_WITH_AS(exploring("router = explore\nrouter.explore.of = explore"),
                       doctest::Contains("of = explore is no other router"), ConfigError);
  CHECK_THROWS_WITH_AS(exploring("router = explore\nrouter.explore.of = nobody"),
                       doctest::Contains("a.ini:6: of = nobody is no other router"), ConfigError);
}

TEST_CASE("one decision in so many is reversed, and each says how probable it was") {
  const Composition arm =
      exploring("router = explore\nrouter.explore.of = always\nrouter.explore.epsilon = 0.25");
  Loaded loaded;
  const Models models = load_models(arm, arm.run.machine, loaded);
  const auto task = arm.task.make();
  task->load(nullptr);
  int decided = 0, reversed = 0;
  for (std::uint64_t i = 0; i < 500; ++i) {
    SampledChance chance(7);
    Decoder decoder(arm, models, task->prompt(0), {chance, i});
    for (const StepRow& step : drive(models, decoder, decoder.decode()).steps) {
      if (step.routed < 0) {
        CHECK(step.propensity == 1);
        continue;
      }
      CHECK(step.propensity == (step.routed ? 0.75 : 0.25));
      CHECK(step.verified == step.routed);
      ++decided;
      reversed += !step.routed;
    }
  }
  CHECK(decided > 1000);
  // The tolerance of 0.0375 is about three standard errors.
  CHECK(reversed / static_cast<double>(decided) == doctest::Approx(0.25).epsilon(0.15));
}

TEST_CASE("with probability 0 nothing is drawn and nothing changes") {
  const Composition plain = exploring("router = min-span"),
                    explored = exploring("router = explore\nrouter.explore.epsilon = 0");
  Loaded loaded;
  const Models models = load_models(plain, plain.run.machine, loaded);
  const auto task = plain.task.make();
  task->load(nullptr);
  SampledChance one(3), other(3);
  Decoder first(plain, models, task->prompt(0), {one, 1}),
      second(explored, models, task->prompt(0), {other, 1});
  drive(models, first, first.decode());
  drive(models, second, second.decode());
  CHECK(first.canvas().tokens() == second.canvas().tokens());
}
