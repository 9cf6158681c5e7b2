#include <doctest/doctest.h>

#include "core/config/config.h"
#include "core/config/plugin.h"
#include "plugins/builtin.h"

namespace draftlab {

namespace {

std::unique_ptr<Task> task(const std::string& prompt) {
  Registries registries;
  register_task_positions(registries);
  Diagnostics diagnostics;
  const Config config =
      Config::parse("[task.positions]\nlength = 5\nprompt = " + prompt, "test", diagnostics);
  const auto bound =
      registries.tasks.find("positions")->bind(config, "task.positions", diagnostics);
  diagnostics.raise();
  return bound.make();
}

std::string positions_refusal(const std::string& prompt) {
  try {
    task(prompt);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("positions: one prompt, sorted by position") {
  const auto made = task("4:0, 1:7");
  CHECK(made->size() == 1);
  const Prompt prompt = made->prompt(0);
  CHECK(prompt.length == 5);
  CHECK(prompt.given == std::vector<std::pair<std::int32_t, Token>>{{1, 7}, {4, 0}});
  CHECK(task("")->prompt(0).given.empty());
}

TEST_CASE("positions: what cannot be meant is refused in one sentence") {
  CHECK(positions_refusal("5:1") ==
        "task.positions.prompt = 5:1 gives position 5, which must be in [0, 4]");
  CHECK(positions_refusal("1:1,1:2") == "task.positions.prompt = 1:1,1:2 gives position 1 twice");
  CHECK(positions_refusal("1") ==
        "task.positions.prompt = 1 holds '1', which must be position:token");
  CHECK(positions_refusal("1:x") ==
        "task.positions.prompt = 1:x holds '1:x', which must be position:token");
  CHECK(positions_refusal("1:-2") ==
        "task.positions.prompt = 1:-2 holds '1:-2', which must be position:token");
}

}  // namespace draftlab
