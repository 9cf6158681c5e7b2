#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include "plugins/models/nn/training/block_diffusion_loss_torch.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "tests/plugins/models/rounding.h"

namespace draftlab {
namespace {

TransformerConfig small(bool tied, const std::string& family = "sdar") {
  TransformerConfig config;
  config.model_type = family;
  config.vocab_size = 11;
  config.hidden_size = 12;
  config.num_hidden_layers = 2;
  config.num_attention_heads = 4;
  config.num_key_value_heads = 2;
  config.head_dim = 6;
  config.intermediate_size = 20;
  config.tie_word_embeddings = tied;
  return config;
}

constexpr testing::Passed kPassed{.layers = 2, .width = 12, .inner = 20, .positions = 12};

NoisyCanvas canvas(std::vector<Token> tokens, std::vector<char> masked, int block) {
  const std::size_t length = tokens.size();
  return {std::move(tokens), std::move(masked), block, std::vector<float>(length, 1.0f)};
}

// The same rows by the general forward, with a mask that is written out.
at::Tensor by_the_book(const Transformer& net, const at::Tensor& ids, const at::Tensor& positions,
                       const at::Tensor& allowed) {
  return transformer_hidden(net, {ids, positions, allowed}).back();
}

}  // namespace

DOCTEST_TEST_CASE("two blocks of two: each row sees what a hand-written mask lets it see") {
  // Tokens 1 2 | 3 4, the first is prompt; 2 and 3 are masked (token 0 is the mask).
  const NoisyBatch batch = noisy_batch({canvas({1, 2, 3, 4}, {0, 1, 1, 0}, 2)}, 0, false);
  DOCTEST_CHECK(batch.noisy.equal(at::tensor({1, 0, 0, 4}, at::kLong).view({1, 4})));
  DOCTEST_CHECK(batch.scored.equal(at::tensor({1, 2}, at::kLong)));
  DOCTEST_CHECK(batch.target.equal(at::tensor({2, 3}, at::kLong)));
  const at::Tensor allowed =
      at::tensor({1, 1, 0, 0,
                  0, 0, 0, 0,  // Clean rows see clean rows of their own and earlier blocks.
                  1, 1, 0, 0,
                  0, 0, 0, 0,  //
                  1, 1, 1, 1,
                  0, 0, 0, 0,  //
                  1, 1, 1, 1,
                  0, 0, 0, 0,  //
                  0, 0, 0, 0,
                  1, 1, 0, 0,  // Noisy rows see clean rows of earlier blocks, and their own block.
                  0, 0, 0, 0,
                  1, 1, 0, 0,  //
                  1, 1, 0, 0,
                  0, 0, 1, 1,  //
                  1, 1, 0, 0,
                  0, 0, 1, 1},
                 at::kLong)
          .view({8, 8})
          .to(at::kBool);
  const Transformer net = Transformer::random(small(false), 3, 0.3);
  const at::Tensor book =
      by_the_book(net, at::tensor({1, 2, 3, 4, 1, 0, 0, 4}, at::kLong).view({1, 8}),
                  at::tensor({0, 1, 2, 3, 0, 1, 2, 3}, at::kLong).view({1, 8}), allowed);
  DOCTEST_CHECK(
      (noisy_hidden(net, batch, false) - book.narrow(1, 4, 4)).abs().max().item<double>() <
      testing::rounding(kPassed, book.abs().max().item<double>()));
}

DOCTEST_TEST_CASE(
    "blocks of one: what is clean is causal, and rows before the first mask are left out") {
  // The second canvas's answer begins one token later: its last noisy row lies beyond it.
  const NoisyBatch batch =
      noisy_batch({canvas({1, 2, 3}, {0, 1, 1}, 1), canvas({4, 5, 6}, {0, 0, 1}, 1)}, 0, false);
  DOCTEST_CHECK(batch.noisy.equal(at::zeros({2, 2}, at::kLong)));
  DOCTEST_CHECK(batch.scored.equal(at::tensor({0, 1, 2}, at::kLong)));
  const Transformer net = Transformer::random(small(true), 4, 0.3);
  const at::Tensor hidden = noisy_hidden(net, batch, false);
  // Sequentially: the clean tokens before, causally, and one mask.
  const auto told = [&](std::vector<std::int64_t> before) {
    before.push_back(0);
    const auto n = static_cast<std::int64_t>(before.size());
    const at::Tensor ids = at::from_blob(before.data(), {1, n}, at::kLong).clone();
    return by_the_book(net, ids, at::arange(n, at::kLong).view({1, n}),
                       at::ones({n, n}, at::kBool).tril())
        .select(1, n - 1)
        .squeeze(0);
  };
  const double most = testing::rounding(kPassed, hidden.abs().max().item<double>());
  DOCTEST_CHECK((hidden[0][0] - told({1})).abs().max().item<double>() < most);
  DOCTEST_CHECK((hidden[0][1] - told({1, 2})).abs().max().item<double>() < most);
  DOCTEST_CHECK((hidden[1][0] - told({4, 5})).abs().max().item<double>() < most);
}

DOCTEST_TEST_CASE(
    "right-shifted and blocks of one: the clean rows alone, each tells the next token") {
  const NoisyBatch batch = noisy_batch(
      {canvas({1, 2, 3, 4}, {0, 1, 1, 1}, 1), canvas({4, 5, 6, 7}, {0, 0, 1, 1}, 1)}, 0, true);
  DOCTEST_CHECK(batch.noisy.size(1) == 1);  // Nobody sees this padding.
  DOCTEST_CHECK(batch.skipped == 0);
  DOCTEST_CHECK(batch.scored.equal(at::tensor({0, 1, 2, 5 + 1, 5 + 2}, at::kLong)));
  DOCTEST_CHECK(batch.target.equal(at::tensor({2, 3, 4, 6, 7}, at::kLong)));
  const Transformer net = Transformer::random(small(true, "Fast_dLLM_Qwen"), 4, 0.3);
  const at::Tensor nll = masked_nll(net, batch, false);
  const at::Tensor logits = transformer_logits(
      net,
      {batch.clean, at::arange(4, at::kLong).repeat({2, 1}), at::ones({4, 4}, at::kBool).tril()});
  const at::Tensor rows = at::log_softmax(logits.flatten(0, 1), -1);
  const std::vector<std::pair<int, int>> told{
      {0, 2}, {1, 3}, {2, 4}, {5, 6}, {6, 7}};  // Pairs of a row of eight and a token.
  for (std::size_t i = 0; i < told.size(); i++)
    DOCTEST_CHECK(nll[static_cast<std::int64_t>(i)].item<double>() ==
                  doctest::Approx(-rows[told[i].first][told[i].second].item<double>())
                      .epsilon(testing::rounding(kPassed)));
  DOCTEST_CHECK_THROWS_AS(noisy_batch({canvas({1, 2}, {1, 0}, 1)}, 0, true), Fault);
}

DOCTEST_TEST_CASE("the loss is that of the general forward, and so is its gradient") {
  for (const bool shifted : {false, true}) {
    const NoisyBatch batch =
        noisy_batch({canvas({1, 2, 3, 4, 5, 6}, {0, 0, 1, 0, 1, 1}, 4)}, 0, shifted);
    // Blocks 0-3 and 4-5; noisy rows begin at the first block: 6 of them.
    at::Tensor allowed = at::zeros({12, 12}, at::kBool);
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++) {
        if (j / 4 <= i / 4) allowed[i][j] = true;
        if (j / 4 < i / 4) allowed[6 + i][j] = true;
        if (j / 4 == i / 4) allowed[6 + i][6 + j] = true;
      }
    const auto gradients = [&](bool fused) {
      Transformer net =
          Transformer::random(small(true, shifted ? "Fast_dLLM_Qwen" : "sdar"), 5, 0.3);
      for (auto& [name, parameter] : net.named_parameters()) {
        parameter.set_requires_grad(true);
        parameter.mutable_grad() = at::zeros_like(parameter);
      }
      at::Tensor nll;
      if (fused) {
        nll = masked_nll(net, batch, false);
      } else {
        const at::Tensor logits = transformer_logits(
            net,
            {at::tensor({1, 2, 3, 4, 5, 6, 1, 2, 0, 4, 0, 0}, at::kLong).view({1, 12}),
             at::tensor({0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}, at::kLong).view({1, 12}), allowed});
        // Right-shifted, the token at position 4, the first of its block, is told by the clean
        // row 3.
        const at::Tensor tells =
            shifted ? at::tensor({7, 3, 10}, at::kLong) : at::tensor({8, 10, 11}, at::kLong);
        const at::Tensor rows = at::log_softmax(logits[0].index_select(0, tells), -1);
        nll = -rows.gather(1, at::tensor({3, 5, 6}, at::kLong).view({3, 1})).squeeze(1);
      }
      nll.sum().backward();
      std::vector<std::pair<std::string, at::Tensor>> all{{"loss", nll.detach()}};
      for (auto& [name, parameter] : net.named_parameters())
        all.emplace_back(name, parameter.grad());
      return all;
    };
    const auto fused = gradients(true), book = gradients(false);
    testing::Passed passed = kPassed;
    passed.passes = 2, passed.rows = 12;
    double largest = 1;
    for (const auto& [name, gradient] : book)
      largest = std::max(largest, gradient.abs().max().item<double>());
    for (std::size_t i = 0; i < book.size(); i++) {
      DOCTEST_INFO(book[i].first);
      DOCTEST_CHECK(book[i].second.abs().max().item<double>() > 1e-4);
      DOCTEST_CHECK((fused[i].second - book[i].second).abs().max().item<double>() <
                    testing::rounding(passed, largest));
    }
  }
}

}  // namespace draftlab
