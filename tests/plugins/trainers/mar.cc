#include "plugins/models/mar/train_mar.h"

#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "plugins/builtin.h"

namespace draftlab {
namespace {

// The sentence with which a config is refused before anything is loaded; "" when it is not.
std::string mar_refusal(const std::string& options) {
  Registries registries;
  register_trainer_mar(registries);
  Diagnostics diagnostics;
  const Config config = Config::parse("[trainer.mar]\n" + options, "test.ini", diagnostics);
  const auto bound = registries.trainers.find("mar")->bind(config, "trainer.mar", diagnostics);
  diagnostics.raise();
  try {
    bound.make();
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

TEST_CASE("a training of MAR that cannot be is refused in a sentence that names the rule") {
  CHECK(mar_refusal("") == "");
  CHECK(mar_refusal("width = 90\n") == "trainer.mar.width = 90 must be a multiple of heads = 4");
  CHECK(mar_refusal("mask_mean = 0.5\n") == "trainer.mar.mask_mean must not be below mask_least");
}

}  // namespace
}  // namespace draftlab
