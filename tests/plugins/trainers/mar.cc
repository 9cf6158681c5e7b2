#include "plugins/models/mar/train_mar.h"

#include <doctest/doctest.h>

#include "plugins/builtin.h"
#include "tests/plugins/trainers/refusal.h"

namespace draftlab {
namespace {

std::string mar_refusal(const std::string& options) {
  return testing::refusal(register_trainer_mar, "mar", options);
}

TEST_CASE("a training of MAR that cannot be is refused in a sentence that names the rule") {
  CHECK(mar_refusal("") == "");
  CHECK(mar_refusal("width = 90\n") == "trainer.mar.width = 90 must be a multiple of heads = 4");
  CHECK(mar_refusal("mask_mean = 0.5\n") == "trainer.mar.mask_mean must not be below mask_least");
}

}  // namespace
}  // namespace draftlab
