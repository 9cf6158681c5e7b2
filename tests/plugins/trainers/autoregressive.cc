#include "plugins/models/autoregressive/train_autoregressive.h"

#include <doctest/doctest.h>

#include "plugins/builtin.h"
#include "tests/plugins/trainers/refusal.h"

namespace draftlab {
namespace {

std::string causal_refusal(const std::string& options) {
  return testing::refusal(register_trainer_autoregressive, "autoregressive", options);
}

TEST_CASE("a causal training that cannot be is refused in a sentence that names the rule") {
  const std::string base = "start = somewhere\n", heads = base + "prediction_heads = 4\n";
  CHECK(causal_refusal(base) == "");
  CHECK(causal_refusal("tokenizer = somewhere\n") == "");
  CHECK(causal_refusal("") ==
        "trainer.autoregressive.tokenizer must name a folder that holds spiece.model");
  CHECK(causal_refusal(base + "heads = 5\ngroups = 2\n") ==
        "trainer.autoregressive.heads = 5 must be a multiple of groups = 2");
  CHECK(causal_refusal(base + "head = 7\n") == "trainer.autoregressive.head = 7 must be even");
  CHECK(causal_refusal(heads + "freeze = true\n") == "");
  CHECK(causal_refusal(base + "freeze = true\n") ==
        "trainer.autoregressive.freeze = true trains heads for a checkpoint: name both "
        "(prediction_heads, feature_passes or hydra_heads; start)");
  CHECK(causal_refusal(base + "freeze = true\nprediction_heads = 1\nfirst_head = base\n") ==
        "trainer.autoregressive.first_head = base leaves nothing to train of one prediction head "
        "beside a frozen base");
}

TEST_CASE("head 1 gets a share of the minibatches only where they are shared out") {
  const std::string share = "start = somewhere\nfirst_head_share = 0.5\n",
                    among =
                        "trainer.autoregressive.first_head_share divides minibatches among "
                        "prediction heads: write prediction_heads of 2 or more and head_loss "
                        "= one";
  CHECK(causal_refusal(share + "prediction_heads = 2\n") == "");
  CHECK(causal_refusal(share + "prediction_heads = 2\nfreeze = true\n") == "");
  CHECK(causal_refusal(share + "prediction_heads = 2\nfirst_head = base\n") == "");
  CHECK(causal_refusal(share) == among);
  CHECK(causal_refusal(share + "prediction_heads = 1\n") == among);
  CHECK(causal_refusal(share + "prediction_heads = 2\nhead_loss = mean\n") == among);
  CHECK(causal_refusal(share + "prediction_heads = 2\nfreeze = true\nfirst_head = base\n") ==
        "trainer.autoregressive.first_head_share has nothing to give: first_head = base leaves "
        "head 1 to a frozen base");
}

}  // namespace
}  // namespace draftlab
