// The training loss against the network's general forward, and the loop: it learns, and a resumed
// run is the whole one.
#include "plugins/models/xlnet/train_any_subset.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <tuple>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "core/config/plugin.h"
#include "core/prob/chance.h"
#include "core/trace/curves.h"
#include "plugins/models/nn/checkpoint/safetensors.h"
#include "plugins/models/xlnet/any_subset_loss_torch.h"
#include "tests/plugins/models/letters.h"
#include "tests/scratch.h"

namespace draftlab {
namespace {

constexpr int kLength = 9;

Xlnet tiny_network() {
  XlnetConfig config;
  config.vocab_size = 35;
  config.d_model = 16;
  config.n_layer = 2;
  config.n_head = 2;
  config.d_head = 8;
  config.d_inner = 32;
  Xlnet net = Xlnet::random(config, 3);
  for (auto& [name, parameter] : net.named_parameters())
    parameter.mul_(8);  // This takes answers far from uniform ones.
  return net;
}

// Three canvases: scattered lattice, scattered and shuffled, prefix.
AnySubsetBatch batch() {
  const Uniforms uniform = [site = Site{11, 0, Purpose::train, 0, 0}]() mutable {
    site.position++;
    return SampledChance::uniform(5, site);
  };
  AnySubsetBatch batch;
  for (int b = 0; b < 3; b++) {
    std::vector<Token> tokens{1};
    while (tokens.size() < kLength) tokens.push_back(9 + static_cast<Token>(26 * uniform()));
    batch.tokens.push_back(tokens);
    const std::vector<char> given = draw_prompt(
        kLength, b == 2 ? 1 : 3, b == 2 ? PromptShape::prefix : PromptShape::scattered, uniform);
    batch.arrangements.push_back(arrange(given, b == 1, uniform));
  }
  return batch;
}

// The same through the general forward, one token at a time: what is not yet generated is the mask
// token, unseen.
at::Tensor stepwise_nll(const Xlnet& net, const AnySubsetBatch& batch) {
  std::vector<at::Tensor> nll;
  for (std::size_t b = 0; b < batch.tokens.size(); b++) {
    const auto& [rank, prompt, ahead] = batch.arrangements[b];
    for (std::int64_t target = 0; target < kLength; target++) {
      if (rank[target] < prompt) continue;
      at::Tensor ids = at::empty({1, kLength}, at::kLong);
      at::Tensor content = at::ones({1, kLength, kLength}, at::kBool),
                 query = at::ones({1, 1, kLength}, at::kBool);
      for (std::int64_t i = 0; i < kLength; i++) {
        const bool known = rank[i] < rank[target];
        ids[0][i] = known ? batch.tokens[b][i] : 6;
        query[0][0][i] = !known;
        for (std::int64_t j = 0; j < kLength; j++)
          content[0][i][j] = !(known && rank[j] < std::max(prompt, rank[i] + 1));
      }
      const at::Tensor logits =
          two_stream_logits(net, {ids, content, query, at::full({1, 1}, target, at::kLong)});
      nll.push_back(-at::log_softmax(logits[0][0], -1)[batch.tokens[b][target]]);
    }
  }
  return at::stack(nll);
}

DOCTEST_TEST_CASE("the density of a sequence is the product of its stepwise conditionals") {
  const at::NoGradGuard guard;
  const Xlnet net = tiny_network();
  const at::Tensor joint = any_subset_nll(net, batch(), false),
                   stepwise = stepwise_nll(net, batch());
  DOCTEST_REQUIRE(joint.numel() == 6 + 6 + 8);
  DOCTEST_CHECK(batch().scored() == 20);
  DOCTEST_CHECK((joint - stepwise).abs().max().item<double>() < 1e-4);
  DOCTEST_CHECK(joint.std().item<double>() > 0.3);  // The answers do differ.
  const at::Tensor bf16 = any_subset_nll(net, batch(), true);
  DOCTEST_CHECK((bf16 - joint).abs().max().item<double>() < 0.5);
  DOCTEST_CHECK((bf16.mean() - joint.mean()).abs().item<double>() < 0.05);
}

DOCTEST_TEST_CASE("the fused attention has the gradient of the general forward") {
  std::vector<std::vector<at::Tensor>> gradients;
  for (bool fused : {true, false}) {
    const Xlnet net = tiny_network();
    for (auto& [name, parameter] : net.named_parameters()) parameter.set_requires_grad(true);
    (fused ? any_subset_nll(net, batch(), false) : stepwise_nll(net, batch())).mean().backward();
    gradients.emplace_back();
    for (auto& [name, parameter] : net.named_parameters())
      gradients.back().push_back(parameter.grad());
  }
  int compared = 0;
  for (std::size_t i = 0; i < gradients[0].size(); i++) {
    if (!gradients[0][i].defined()) continue;  // Softmax does not see segments.
    const double size = gradients[1][i].abs().max().item<double>();
    DOCTEST_CHECK((gradients[0][i] - gradients[1][i]).abs().max().item<double>() <
                  1e-4 * (1 + size));
    compared += size > 0;
  }
  DOCTEST_CHECK(compared >= 25);
}

TrainAnySubsetJob job(std::int64_t steps) {
  std::vector<std::string> documents;
  for (int i = 0; i < 40; i++) documents.push_back(i % 2 ? "abcdefgh" : "zyxwvuts");
  TrainAnySubsetJob job;
  const Letters letters;
  std::tie(job.corpus, job.held_out) = split_corpus(documents, 5, separated(letters));
  job.vocabulary = 35;
  TrainAnySubsetOptions& o = job.options;
  o.layers = 2, o.width = 16, o.heads = 2, o.inner = 32, o.length = kLength, o.batch = 4,
  o.accumulate = 2;
  o.steps = steps, o.warmup = 0, o.floor = 1, o.rate = 1e-2, o.mask_warmup = 4, o.log_every = 1,
  o.validate_every = 3, o.share_spans = 0.5;
  o.align = true;
  return job;
}

void train(const TrainAnySubsetJob& job, const std::filesystem::path& out, bool resume) {
  const Registries registries;
  Diagnostics diagnostics;
  const Config config = Config::parse("", "test.ini", diagnostics);
  Machine machine;
  machine.threads = 1;
  std::filesystem::create_directories(out);
  draftlab_train_any_subset(job, {registries, config, machine, 5, out.string(), resume});
}

DOCTEST_TEST_CASE("a resumed training is the uninterrupted one") {
  const testing::Folder folder;
  train(job(6), folder.path / "whole", false);
  train(job(3), folder.path / "parts", false);
  train(job(6), folder.path / "parts", true);
  for (const std::string file : {"training.safetensors", "model.safetensors"}) {
    const SafetensorsFile whole((folder.path / "whole" / file).string()),
        parts((folder.path / "parts" / file).string());
    DOCTEST_REQUIRE(whole.tensors().size() == parts.tensors().size());
    double difference = 0, size = 0;
    for (const auto& [name, tensor] : whole.tensors()) {
      const TensorBytes& other = parts.at(name);
      DOCTEST_REQUIRE(tensor.bytes.size() == other.bytes.size());
      for (std::size_t at = 0; at < tensor.bytes.size(); at += sizeof(float)) {
        float a, b;
        std::memcpy(&a, tensor.bytes.data() + at, sizeof a);
        std::memcpy(&b, other.bytes.data() + at, sizeof b);
        difference = std::max(difference, static_cast<double>(std::abs(a - b)));
        size = std::max(size, static_cast<double>(std::abs(a)));
      }
    }
    DOCTEST_CHECK(difference < 1e-6);
    DOCTEST_CHECK(size > 0.1);
  }
  const Curves curves = read_curves((folder.path / "parts/curves.h5").string());
  DOCTEST_REQUIRE(curves.steps.size() == 6);
  for (std::int64_t i = 0; i < 6; i++) DOCTEST_CHECK(curves.steps[i].step == i + 1);
  DOCTEST_CHECK(curves.validations.size() == 2);
}

DOCTEST_TEST_CASE("training learns what there is to learn") {
  const testing::Folder folder;
  TrainAnySubsetJob learning = job(150);
  learning.options.mask_max = 0.6;
  learning.options.validate_every = 150;
  train(learning, folder.path / "run", false);
  const Curves curves = read_curves((folder.path / "run/curves.h5").string());
  DOCTEST_CHECK(curves.steps.front().loss > 3.3);  // Ln 35 = 3.56.
  DOCTEST_CHECK(curves.validations.back().loss <
                0.5);  // Two documents, told apart by any visible letter.
  DOCTEST_CHECK(curves.steps.front().mask_rate < 0.3);
}

}  // namespace
}  // namespace draftlab
