// The transformer against numbers that others computed (parity bundles), whole and row by row; and
// what its loader refuses.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/std.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "plugins/models/bench/random_checkpoint.h"
#include "plugins/models/nn/checkpoint/safetensors.h"
#include "plugins/models/nn/transformer/device_rows_torch.h"
#include "plugins/models/nn/transformer/transformer_rows_torch.h"
#include "plugins/models/nn/transformer/transformer_torch.h"
#include "tests/complaint.h"
#include "tests/plugins/models/recorded_torch.h"
#include "tests/scratch.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

using testing::rewrite;
using testing::says;

// Row i sees the rows of its own block and of those before it.
at::Tensor block_causal(std::int64_t length, std::int64_t block) {
  const at::Tensor index = at::arange(length, at::kLong).div(block, "floor");
  return index.unsqueeze(1) >= index.unsqueeze(0);
}

std::vector<MemoryRow> memory_rows(RowMemory& memory, const at::Tensor& ids, std::int64_t block) {
  std::vector<MemoryRow> rows;
  for (std::int64_t i = 0; i < ids.size(1); ++i) {
    const auto position = static_cast<std::int32_t>(i);
    rows.push_back({.memory = &memory,
                    .position = position,
                    .token = static_cast<Token>(ids[0][i].item<std::int64_t>()),
                    .slot = i,
                    .limit = (i / block + 1) * block,
                    .extras = {},
                    .asked = true});
  }
  return rows;
}

// LLaDA2: whom the router chooses, and two long rows of tokens that see everything, so that nearly
// every expert is somebody's. Those that are nobody's are not computed: they hold no numbers.
void compare_experts(Transformer net, const SafetensorsFile& io, Difference& difference) {
  for (std::int64_t layer = 0; layer < net.config.num_hidden_layers; ++layer) {
    const std::string number = "." + std::to_string(layer);
    if (!io.tensors().contains("block_causal.router_logits" + number)) continue;
    const at::Tensor logits = read(io, "block_causal.router_logits" + number)[0],
                     chosen = read(io, "block_causal.topk_sorted" + number)[0];
    for (std::int64_t row = 0; row < logits.size(0); ++row) {
      const auto choices = choose_experts(net.config.experts, logits[row].data_ptr<float>(),
                                          net.layers[layer].router_bias.data_ptr<float>());
      DOCTEST_REQUIRE(static_cast<std::int64_t>(choices.size()) == chosen.size(1));
      float sum = 0;
      for (std::size_t i = 0; i < choices.size(); ++i) {
        DOCTEST_CHECK(choices[i].expert ==
                      chosen[row][static_cast<std::int64_t>(i)].item<std::int64_t>());
        sum += choices[i].weight;
      }
      DOCTEST_CHECK(sum == doctest::Approx(net.config.experts.scale));
    }
  }
  const at::Tensor ids = read(io, "coverage.input_ids"), expected = read(io, "coverage.logits");
  const std::int64_t length = ids.size(1);
  const at::Tensor positions = at::arange(length, at::kLong).unsqueeze(0),
                   allowed = at::ones({length, length}, at::kBool);
  const at::Tensor answered = transformer_logits(net, {ids, positions, allowed});
  difference.add(answered, expected);
  for (TransformerLayer& layer : net.layers) {
    for (FeedForward& expert : layer.experts) {
      expert.up.mul_(2);  // A token that does not choose this expert does not notice.
      const bool chosen = !at::equal(transformer_logits(net, {ids, positions, allowed}), answered);
      expert.up.div_(2);
      if (!chosen) expert.up.fill_(std::numeric_limits<float>::quiet_NaN());
    }
  }
  const DeviceRows device_rows(net, at::kFloat);
  TransformerRows rows(net, Precision::f32);
  rows.prepare(length);
  for (std::int64_t i = 0; i < ids.size(0); ++i) {
    RowMemory memory(net.config, length), tensors(net.config, length);
    difference.add(rows.forward(memory_rows(memory, ids.narrow(0, i, 1), length)), expected[i]);
    difference.add(device_rows.forward(memory_rows(tensors, ids.narrow(0, i, 1), length)),
                   expected[i]);
  }
}

Difference compare(const fs::path& folder, bool sdar) {
  const at::NoGradGuard no_grad;
  const Transformer net = Transformer::load(folder.string());
  const SafetensorsFile io((folder / "io.safetensors").string());
  const bool prefix_len = io.tensors().contains("meta.block_size_prefix_len");
  const std::int64_t block =
      read(io, prefix_len ? "meta.block_size_prefix_len" : "meta.block_size_prefix_sub")[0]
          .item<std::int64_t>();
  TransformerRows rows(net, Precision::f32);
  rows.prepare(read(io, "block_causal.input_ids").size(1));
  const DeviceRows device_rows(net, at::kFloat);  // These are the operations of a GPU.
  Difference difference;
  if (sdar) {  // A token-causal prompt is one of blocks of size 1.
    const at::Tensor ids = read(io, "prefill.input_ids"), allowed = block_causal(ids.size(1), 1);
    RowMemory memory(net.config, ids.size(1));
    difference.add(
        transformer_logits(net, {ids, at::arange(ids.size(1), at::kLong).unsqueeze(0), allowed}),
        read(io, "prefill_causalcache.logits"));
    difference.add(rows.forward(memory_rows(memory, ids, 1)).unsqueeze(0),
                   read(io, "prefill_causalcache.logits"));
  }
  for (const std::string name : {"block_causal", "prefill"}) {
    const at::Tensor ids = read(io, name + ".input_ids"),
                     positions = at::arange(ids.size(1), at::kLong).unsqueeze(0);
    const at::Tensor allowed = block_causal(ids.size(1), block);
    if (sdar) {
      DOCTEST_CHECK(at::equal(allowed.to(at::kLong), read(io, name + ".attention_mask")[0]));
      DOCTEST_CHECK(at::equal(positions, read(io, name + ".position_ids")));
    }
    const std::vector<at::Tensor> hidden = transformer_hidden(net, {ids, positions, allowed});
    for (std::size_t i = 0; i < hidden.size(); ++i) {
      const std::string layer = name + ".hidden." + std::to_string(i);
      if (io.tensors().contains(layer)) difference.add(hidden[i], read(io, layer));
    }
    difference.add(transformer_logits(net, {ids, positions, allowed}), read(io, name + ".logits"));

    RowMemory memory(net.config, ids.size(1));
    difference.add(rows.forward(memory_rows(memory, ids, block)).unsqueeze(0),
                   read(io, name + ".logits"));
    RowMemory tensors(net.config, ids.size(1));
    difference.add(device_rows.forward(memory_rows(tensors, ids, block)).unsqueeze(0),
                   read(io, name + ".logits"));
    for (std::int64_t layer = 0; layer < net.config.num_hidden_layers; ++layer) {
      if (!io.tensors().contains(name + ".key." + std::to_string(layer))) continue;
      const at::Tensor keys = read(io, name + ".key." + std::to_string(layer)),
                       values = read(io, name + ".value." + std::to_string(layer));
      at::Tensor own_keys = at::empty_like(keys), own_values = at::empty_like(values);
      for (std::int64_t group = 0; group < keys.size(1); ++group) {
        for (std::int64_t i = 0; i < keys.size(2); ++i) {
          const std::vector<float> key = memory.key({layer, group, i}),
                                   value = memory.value({layer, group, i});
          std::copy(key.begin(), key.end(), own_keys[0][group][i].data_ptr<float>());
          std::copy(value.begin(), value.end(), own_values[0][group][i].data_ptr<float>());
        }
      }
      difference.add(own_keys, keys);
      difference.add(own_values, values);
    }
  }
  if (net.config.llada2()) compare_experts(Transformer::load(folder.string()), io, difference);
  return difference;
}

TransformerConfig tiny(const std::string& family) {
  TransformerConfig config;
  config.model_type = family;
  config.vocab_size = 11;
  config.hidden_size = 8;
  config.num_hidden_layers = 2;
  config.num_attention_heads = 4;
  config.num_key_value_heads = 2;
  config.head_dim = 6;
  config.intermediate_size = 13;
  config.mask_token_id = 9;
  config.eos_token_id = {3, 5};
  config.block_size = 4;
  if (config.llada2()) {
    config.rotary_dim = 4;
    config.experts = {.count = 6,
                      .chosen = 2,
                      .shared = 2,
                      .inner = 5,
                      .first_layer = 1,
                      .groups = 3,
                      .best_groups = 2,
                      .scale = 2.5};
  }
  return config;
}

std::string transformer_complaint(const std::string& folder) {
  return testing::complaint([&] { Transformer::load(folder); });
}

}  // namespace

DOCTEST_TEST_CASE("parity: transformer, whole and row by row") {
  at::set_num_threads(1);
  for (const auto& [folder, name, family] :
       bundles_of({"sdar", "llada2_moe", "Fast_dLLM_Qwen"}, "transformer")) {
    const Difference difference = compare(folder, family == "sdar");
    std::cout << "parity " << name << ": " << difference.compared << " tensors, largest difference "
              << difference.largest << ", " << difference.share << " of the tolerance\n";
    DOCTEST_INFO(name);
    DOCTEST_CHECK(difference.share <= 1);
    // Three computations of each of two passes, and what enters the layers of one.
    DOCTEST_CHECK(difference.compared >=
                  6 + TransformerConfig::read(folder.string()).num_hidden_layers);
  }
}

DOCTEST_TEST_CASE("a saved transformer is read back, in f32 and bf16, and in several files") {
  const testing::Folder folder;
  for (const std::string family :
       {"sdar", "Fast_dLLM_Qwen", "llada", "llada2_moe", "Dream", "qwen2", "qwen3"}) {
    for (const bool tied : {false, true}) {
      DOCTEST_INFO(family << (tied ? " tied" : ""));
      TransformerConfig config = tiny(family);
      config.tie_word_embeddings = tied;
      const Transformer net = Transformer::random(config, 3);
      net.save(folder.path.string(), false);
      const Transformer read_back = Transformer::load(folder.path.string());
      const auto before = net.named_parameters(), after = read_back.named_parameters();
      DOCTEST_REQUIRE(before.size() == after.size());
      for (std::size_t i = 0; i < before.size(); ++i)
        DOCTEST_CHECK(at::equal(before[i].second, after[i].second));
      DOCTEST_CHECK(read_back.config.eos_token_id == config.eos_token_id);
      DOCTEST_CHECK(read_back.config.block_size == 4);
      DOCTEST_CHECK(read_back.config.mask_token_id == 9);
      DOCTEST_CHECK(read_back.config.head_dim == 6);
      DOCTEST_CHECK(read_back.config.rotary() == (config.llada2() ? 4 : 6));
      DOCTEST_CHECK(read_back.lm_head.is_same(read_back.embed_tokens) == tied);
      net.save(folder.path.string(), true);
      DOCTEST_CHECK(at::equal(Transformer::load(folder.path.string()).norm,
                              net.norm.to(at::kBFloat16).to(at::kFloat)));
    }
  }
  // Two files and their index.
  const SafetensorsFile whole((folder.path / "model.safetensors").string());
  std::vector<std::pair<std::string, TensorBytes>> halves[2];
  std::string map;
  int count = 0;
  for (const auto& [name, bytes] : whole.tensors()) {
    const int half = count++ % 2;
    halves[half].emplace_back(name, bytes);
    map += (map.empty() ? "\"" : ", \"") + name + "\": \"part-" + std::to_string(half) +
           ".safetensors\"";
  }
  for (const int half : {0, 1})
    write_safetensors((folder.path / ("part-" + std::to_string(half) + ".safetensors")).string(),
                      halves[half]);
  std::ofstream(folder.path / "model.safetensors.index.json")
      << "{\"weight_map\": {" << map << "}}";
  fs::remove(folder.path / "model.safetensors");
  DOCTEST_CHECK(transformer_complaint(folder.path.string()) == "nothing");
}

DOCTEST_TEST_CASE("a checkpoint as it is stored, in shards of every family's own tensors") {
  const at::NoGradGuard no_grad;
  at::set_num_threads(1);
  for (const std::string family :
       {"sdar", "Fast_dLLM_Qwen", "llada", "llada2_moe", "Dream", "qwen2", "qwen3", "gpt2"}) {
    const testing::Folder folder;
    TransformerConfig config = tiny(family);
    if (config.gpt2()) {
      config.num_key_value_heads = 4, config.head_dim = 2, config.block_size = 0,
      config.mask_token_id = -1;
      config.tie_word_embeddings = config.attention_bias = true;
      config.max_position_embeddings = 16;
    }
    DOCTEST_INFO(family);
    fs::create_directories(folder.path);
    config.write(folder.path.string());
    write_random_weights(folder.path.string(), ElementType::bf16, 700);
    DOCTEST_CHECK(!fs::exists(folder.path / "model.safetensors"));
    const Transformer copied = Transformer::load(folder.path.string()),
                      stored = Transformer::load(folder.path.string(), std::nullopt);
    DOCTEST_CHECK((copied.embed_tokens.scalar_type() == at::kFloat));
    DOCTEST_CHECK((stored.embed_tokens.scalar_type() == at::kBFloat16));
    DOCTEST_CHECK(at::equal(stored.layers[1].down.to(at::kFloat), copied.layers[1].down));
    DOCTEST_CHECK(copied.layers[0].input_layernorm.mean().item<float>() == 1);
    DOCTEST_CHECK(copied.layers[0].down.std().item<double>() ==
                  doctest::Approx(0.02).epsilon(0.3).scale(0));
    const at::Tensor ids = at::arange(4, at::kLong).unsqueeze(0);
    at::Tensor logits[2];
    for (const bool as_stored : {false, true}) {
      TransformerRows rows(as_stored ? stored : copied, Precision::f32);
      rows.prepare(4);
      RowMemory memory(config, 4);
      logits[as_stored] = rows.forward(memory_rows(memory, ids, 4));
    }
    DOCTEST_CHECK(at::equal(logits[0], logits[1]));
    fs::remove(*std::find_if(fs::directory_iterator(folder.path), {}, [](const auto& entry) {
      return entry.path().extension() == ".safetensors";
    }));
    DOCTEST_CHECK(says(transformer_complaint(folder.path.string()), "cannot be read"));
  }
}

DOCTEST_TEST_CASE("what is wrong with a checkpoint is one sentence") {
  const testing::Folder folder;
  const Transformer net = Transformer::random(tiny("sdar"), 3);
  const auto file = folder.path / "config.json";
  const auto saved = [&] { net.save(folder.path.string(), false); };
  saved();
  rewrite(file, "\"sdar\"", "\"bert\"");
  DOCTEST_CHECK(
      says(transformer_complaint(folder.path.string()), "another family, model_type 'bert'"));
  saved();
  rewrite(file, "\"intermediate_size\": 13", "\"intermediate_size\": 14");
  DOCTEST_CHECK(says(
      transformer_complaint(folder.path.string()),
      "tensor 'model.layers.0.mlp.gate_proj.weight' has shape [13, 8], config.json wants [14, 8]"));
  saved();
  rewrite(file, "\"sdar\"", "\"qwen2\"");
  DOCTEST_CHECK(says(
      transformer_complaint(folder.path.string()),
      "has no tensor 'model.layers.0.self_attn.q_proj.bias', config.json wants one of shape [24]"));
  saved();
  rewrite(file, "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1");
  DOCTEST_CHECK(says(transformer_complaint(folder.path.string()),
                     "holds a tensor 'model.layers.1.input_layernorm.weight' of shape [8]"));
  saved();
  rewrite(file, "\"num_key_value_heads\": 2", "\"num_key_value_heads\": 3");
  DOCTEST_CHECK(says(transformer_complaint(folder.path.string()), "no multiple of the 3"));
  saved();
  rewrite(file, "\"rope_scaling\": null", "\"rope_scaling\": {\"factor\": 4}");
  DOCTEST_CHECK(says(transformer_complaint(folder.path.string()),
                     "'rope_scaling' is {\"factor\":4}, only null is supported"));
  Transformer::random(tiny("llada"), 3).save(folder.path.string(), false);
  DOCTEST_CHECK(transformer_complaint(folder.path.string()) == "nothing");
  rewrite(file, "\"include_qkv_bias\": false", "\"include_qkv_bias\": true");
  DOCTEST_CHECK(says(transformer_complaint(folder.path.string()),
                     "'include_qkv_bias' is true, only false is supported"));
  Transformer::random(tiny("llada2_moe"), 3).save(folder.path.string(), false);
  DOCTEST_CHECK(transformer_complaint(folder.path.string()) == "nothing");
  rewrite(file, "\"num_key_value_heads\": 2", "\"num_key_value_heads\": 4");
  DOCTEST_CHECK(says(transformer_complaint(folder.path.string()),
                     "tensor 'model.layers.0.attention.query_key_value.weight' has shape [48, 8], "
                     "config.json wants 72 rows"));
  saved();
  fs::rename(folder.path / "model.safetensors", folder.path / "pytorch_model.bin");
  DOCTEST_CHECK(says(transformer_complaint(folder.path.string()),
                     "pytorch_model.bin: is a Python pickle, which runs code when it is read, so "
                     "only safetensors are read; convert it with python3 -c"));
  fs::remove(folder.path / "pytorch_model.bin");
  saved();
  rewrite(file, "\"model_type\": \"sdar\"", "\"torch_dtype\": \"sdar\"");
  DOCTEST_CHECK(transformer_complaint(folder.path.string()) ==
                "nothing");  // Its architectures say the same.
  saved();
  rewrite(file, "\"head_dim\": 6", "\"head_dim\": \"six\"");
  DOCTEST_CHECK(says(transformer_complaint(folder.path.string()), "'head_dim' must be an integer"));
}

}  // namespace draftlab
