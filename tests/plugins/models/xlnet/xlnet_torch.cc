// The network against numbers that others computed: every parity bundle, and golden values of
// formula-defined weights.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "plugins/models/nn/checkpoint/safetensors.h"
#include "plugins/models/xlnet/xlnet_torch.h"
#include "tests/complaint.h"
#include "tests/plugins/models/recorded_torch.h"
#include "tests/scratch.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

using testing::rewrite;
using testing::says;

Difference compare_xlnet(const fs::path& folder) {
  const at::NoGradGuard no_grad;
  const Xlnet net = Xlnet::load(folder.string());
  const SafetensorsFile io((folder / "io.safetensors").string());
  Difference difference;
  for (const std::string name : {"draft", "verify", "density", "perm", "seg", "content"}) {
    if (!io.tensors().contains(name + ".logits")) continue;
    const at::Tensor ids = read(io, name + ".input_ids");
    const std::int64_t batch = ids.size(0), length = ids.size(1);
    ForwardOptions options;
    options.content = true;
    if (name == "content") {
      const at::Tensor open = at::zeros({batch, length, length}, at::kBool);
      const at::Tensor targets = at::zeros({batch, 1}, at::kLong);
      difference.add(
          lm_logits(net,
                    two_stream(net, {ids, open, open.narrow(1, 0, 1), targets}, options).content),
          read(io, "content.logits"));
      continue;
    }
    const at::Tensor blocked = read(io, name + ".perm_mask").gt(0.5);
    const at::Tensor targets = read(io, name + ".target_positions");
    const at::Tensor blocked_query =
        blocked.gather(1, targets.unsqueeze(2).expand({batch, targets.size(1), length}));
    if (io.tensors().contains(name + ".token_type_ids"))
      options.segments = read(io, name + ".token_type_ids");
    const Hidden hidden = two_stream(net, {ids, blocked, blocked_query, targets}, options);
    const at::Tensor logits = lm_logits(net, hidden.query);
    difference.add(logits, read(io, name + ".logits"));
    const std::string last = "." + std::to_string(net.config.n_layer);
    if (io.tensors().contains(name + ".g" + last))
      difference.add(hidden.query, read(io, name + ".g" + last));
    if (io.tensors().contains(name + ".h" + last))
      difference.add(hidden.content, read(io, name + ".h" + last));
    if (io.tensors().contains(name + ".token_logprob")) {
      const at::Tensor truth = ids.gather(1, targets).unsqueeze(2);
      difference.add(logits.log_softmax(-1).gather(2, truth).squeeze(2),
                     read(io, name + ".token_logprob"));
    }
  }
  return difference;
}

XlnetConfig tiny() {
  XlnetConfig config;
  config.vocab_size = 11;
  config.d_model = 8;
  config.n_layer = 2;
  config.n_head = 2;
  config.d_head = 4;
  config.d_inner = 16;
  return config;
}

// Element i of parameter t: 0.3 sin(0.7 i + 1.3 t + (0.1 i^2 mod 6.283)); norm weights are 1 plus a
// tenth of that.
Xlnet formula_weights() {
  const Xlnet net(tiny());
  const auto parameters = net.named_parameters();
  for (std::size_t t = 0; t < parameters.size(); ++t) {
    const auto& [name, tensor] = parameters[t];
    float* values = tensor.data_ptr<float>();
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {
      const double x = 0.3 * std::sin(0.7 * i + 1.3 * t + std::fmod(0.1 * i * i, 6.283));
      values[i] = static_cast<float>(name.ends_with("layer_norm.weight") ? 1 + 0.1 * x : x);
    }
  }
  return net;
}

std::string xlnet_complaint(const std::string& folder) {
  return testing::complaint([&] { Xlnet::load(folder); });
}

}  // namespace

DOCTEST_TEST_CASE("parity: formula-defined weights") {
  at::set_num_threads(1);
  const at::NoGradGuard no_grad;
  const Xlnet net = formula_weights();
  const auto golden = nlohmann::json::parse(
      std::ifstream(fs::path(DRAFTLAB_SOURCE_DIR) / "tests/golden/xlnet_tiny.json"));
  const std::int64_t length = golden["length"], prompt = golden["prompt"];
  const std::vector<std::int64_t> order = golden["order"];
  for (const auto& one : golden["cases"]) {
    const std::vector<std::int64_t> ids = one["ids"], targets = one["targets"];
    const std::int64_t known = one["known"], asked = static_cast<std::int64_t>(targets.size());
    // Ranks from `known` on hide behind everything that is known, and from one another.
    std::vector<std::int64_t> rank(length);
    for (std::int64_t i = 0; i < length; ++i) rank[order[i]] = std::min(i, known);
    at::Tensor blocked = at::zeros({1, length, length}, at::kBool),
               blocked_query = at::zeros({1, asked, length}, at::kBool);
    at::Tensor all_ids = at::zeros({1, length}, at::kLong),
               all_targets = at::zeros({1, asked}, at::kLong);
    for (std::int64_t i = 0; i < length; ++i) {
      all_ids.data_ptr<std::int64_t>()[i] = ids[i];
      for (std::int64_t j = 0; j < length; ++j) {
        blocked.data_ptr<bool>()[i * length + j] =
            rank[i] <= rank[j] && !(rank[i] < prompt && rank[j] < prompt);
      }
    }
    for (std::int64_t t = 0; t < asked; ++t) {
      all_targets.data_ptr<std::int64_t>()[t] = targets[t];
      for (std::int64_t j = 0; j < length; ++j)
        blocked_query.data_ptr<bool>()[t * length + j] =
            blocked.data_ptr<bool>()[targets[t] * length + j];
    }
    const at::Tensor logits =
        two_stream_logits(net, {all_ids, blocked, blocked_query, all_targets});
    double largest = 0;
    for (std::int64_t t = 0; t < asked; ++t) {
      for (std::int64_t v = 0; v < 11; ++v) {
        largest = std::max(largest, std::abs(logits.data_ptr<float>()[t * 11 + v] -
                                             one["logits"][t][v].get<double>()));
      }
    }
    std::cout << "parity golden/xlnet_tiny " << one["name"].get<std::string>()
              << ": family xlnet, largest error " << largest << ", tolerance 1e-05 absolute\n";
    DOCTEST_CHECK(largest < 1e-5);
  }
}

DOCTEST_TEST_CASE("a saved network is loaded again") {
  const testing::Folder folder;
  const Xlnet net = Xlnet::random(tiny(), 3);
  net.save(folder.path.string(), false);
  const Xlnet again = Xlnet::load(folder.path.string());
  const auto before = net.named_parameters(), after = again.named_parameters();
  DOCTEST_REQUIRE(before.size() == after.size());
  for (std::size_t i = 0; i < before.size(); ++i)
    DOCTEST_CHECK(before[i].second.equal(after[i].second));
  DOCTEST_CHECK(!net.word_embedding.equal(Xlnet::random(tiny(), 4).word_embedding));
  net.save(folder.path.string(), true);
  const at::Tensor rounded = Xlnet::load(folder.path.string()).word_embedding;
  DOCTEST_CHECK(rounded.equal(net.word_embedding.to(at::kBFloat16).to(at::kFloat)));
}

DOCTEST_TEST_CASE("checkpoints that do not fit are refused in one sentence") {
  const testing::Folder folder;
  const fs::path config = folder.path / "config.json";
  DOCTEST_CHECK(says(xlnet_complaint((folder.path / "none").string()), "cannot be read"));
  const auto fresh = [&] { Xlnet::random(tiny(), 3).save(folder.path.string(), false); };
  fresh();
  rewrite(config, "\"xlnet\"", "\"gpt2\"");
  DOCTEST_CHECK(says(xlnet_complaint(folder.path.string()), "another family, model_type 'gpt2'"));
  fresh();
  rewrite(config, "\"d_inner\": 16", "\"d_inner\": 12");
  DOCTEST_CHECK(says(xlnet_complaint(folder.path.string()),
                     "layer_1.weight' has shape [16, 8], config.json wants [12, 8]"));
  fresh();
  rewrite(config, "\"n_layer\": 2", "\"n_layer\": 1");
  DOCTEST_CHECK(
      says(xlnet_complaint(folder.path.string()), "holds a tensor 'transformer.layer.1."));
  fresh();
  rewrite(config, "\"d_inner\": 16", "\"d_inner\": 1000000");
  DOCTEST_CHECK(says(xlnet_complaint(folder.path.string()),
                     "layer_1.weight' has shape [16, 8], config.json wants [1000000, 8]"));
  fresh();
  rewrite(config, "\"d_model\": 8", "\"d_model\": \"8\"");
  DOCTEST_CHECK(says(xlnet_complaint(folder.path.string()), "'d_model' must be an integer"));
  fresh();
  rewrite(config, "\"gelu\"", "\"relu\"");
  DOCTEST_CHECK(says(xlnet_complaint(folder.path.string()), "only \"gelu\" is supported"));
  fresh();
  fs::resize_file(folder.path / "model.safetensors", 1000);
  DOCTEST_CHECK(says(xlnet_complaint(folder.path.string()), "model.safetensors"));
  fresh();
  fs::remove(folder.path / "model.safetensors");
  DOCTEST_CHECK(says(xlnet_complaint(folder.path.string()), "cannot be read"));
}

DOCTEST_TEST_CASE("gradients of the attention weights are the slopes of the loss") {
  at::set_num_threads(1);
  const Xlnet net = formula_weights();
  for (auto& [name, tensor] : net.named_parameters()) tensor.set_requires_grad(true);
  const std::int64_t length = 5;
  at::Tensor ids = at::arange(length, at::kLong).unsqueeze(0),
             targets = at::arange(2, length, at::kLong).unsqueeze(0);
  const at::Tensor position = at::arange(length, at::kLong);
  const at::Tensor blocked = position.unsqueeze(1)
                                 .le(position.unsqueeze(0))
                                 .logical_and(position.ge(2).unsqueeze(0))
                                 .unsqueeze(0);
  const at::Tensor weights = at::arange(33, at::kFloat).sin().view({1, 3, 11});
  const auto loss = [&] {
    return (two_stream_logits(net, {ids, blocked, blocked.narrow(1, 2, 3), targets}) * weights)
        .sum();
  };
  loss().backward();
  for (const at::Tensor* parameter :
       {&net.layers[0].q, &net.layers[0].k, &net.layers[0].r, &net.layers[0].r_r_bias,
        &net.layers[1].r_w_bias, &net.layers[1].v}) {
    const float slope = parameter->grad().view({-1}).data_ptr<float>()[5];
    float& value = parameter->data_ptr<float>()[5];
    const float kept = value, step = 0.01f;
    const at::NoGradGuard no_grad;
    value = kept + step;
    const double above = loss().item<double>();
    value = kept - step;
    const double below = loss().item<double>();
    value = kept;
    DOCTEST_CHECK((above - below) / (2 * step) == doctest::Approx(slope).epsilon(0.02));
  }
}

DOCTEST_TEST_CASE("parity: XLNet") {
  at::set_num_threads(1);
  for (const auto& [folder, name, family] : bundles_of({"xlnet"}, "XLNet")) {
    const Difference difference = compare_xlnet(folder);
    std::cout << "parity " << name << ": family xlnet, largest error " << difference.largest
              << ", tolerance " << kTolerance << " absolute + " << kTolerance << " relative\n";
    DOCTEST_CHECK_MESSAGE(difference.share <= 1, name);
  }
}

}  // namespace draftlab
