// The families llama and mistral against numbers that numpy computed (make_bundles.py), in four
// precisions, from safetensors, shards, GGUF and files of llama2.c.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>

#include <fstream>
#include <iostream>
#include <sstream>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "plugins/models/bench/gguf_checkpoint.h"
#include "plugins/models/nn/checkpoint/weights_torch.h"
#include "plugins/models/nn/transformer/device_rows_torch.h"
#include "tests/complaint.h"
#include "tests/plugins/models/autoregressive/small_torch.h"
#include "tests/plugins/models/nn/checkpoint/small_gguf.h"
#include "tests/plugins/models/nn/checkpoint/small_llama2c_torch.h"
#include "tests/plugins/models/recorded_torch.h"
#include "tests/plugins/models/rounding.h"

namespace draftlab {
namespace {

using namespace testing;
namespace fs = std::filesystem;

const fs::path kBundles = fs::path(DRAFTLAB_SOURCE_DIR) / "tests/plugins/models/llama";

Passed passed_by(const TransformerConfig& config, std::int64_t positions) {
  const std::int64_t width =
      std::max(config.hidden_size, config.num_attention_heads * config.head_dim);
  return {.layers = static_cast<double>(config.num_hidden_layers),
          .width = static_cast<double>(width),
          .inner = static_cast<double>(config.intermediate_size),
          .positions = static_cast<double>(positions)};
}

// Rows of f32 [..., positions, numbers] are those of f64 up to rounding.
void expect_close(const TransformerConfig& config, const at::Tensor& actual,
                  const at::Tensor& expected) {
  DOCTEST_REQUIRE(actual.sizes() == expected.sizes());
  const double most = rounding(passed_by(config, expected.size(-2)),
                               expected.abs().max().item<double>()),
               furthest = (actual - expected).abs().max().item<double>();
  DOCTEST_INFO("differs by " << furthest << ", and may by " << most);
  DOCTEST_CHECK(furthest <= most);
}

at::Tensor logits_of(const Transformer& net, const at::Tensor& ids) {
  const std::int64_t length = ids.size(1);
  return transformer_logits(net, {ids, at::arange(length, at::kLong).unsqueeze(0),
                                  at::ones({length, length}, at::kBool).tril()});
}

std::vector<Token> tokens_of(const at::Tensor& ids) {
  std::vector<Token> tokens;
  for (std::int64_t i = 0; i < ids.size(1); ++i)
    tokens.push_back(static_cast<Token>(ids[0][i].item<std::int64_t>()));
  return tokens;
}

// Returns the largest difference of the logarithms of probabilities, of every position's answer:
// after one commit at a time, and all in one chain, which must agree bit for bit.
double largest_distance(Model& model, const std::vector<Token>& tokens, const at::Tensor& logits) {
  const auto length = static_cast<int>(tokens.size()) + 1;
  Canvas canvas = prompted(length, {tokens[0]});
  const auto one_by_one = model.open(canvas), at_once = model.open(canvas);
  const Answer together = ask(model, *at_once, path(1, {tokens.begin() + 1, tokens.end()}, length));
  double largest = 0;
  for (std::int32_t i = 0; i + 1 < length; ++i) {
    const Answer alone =
        ask(model, *one_by_one,
            {.kind = Kind::draft, .view = View::causal, .nodes = {}, .asks = {{kRoot, {i + 1}}}});
    DOCTEST_CHECK(same_bits(alone.at(kRoot, i + 1), together.at(i - 1, i + 1)));
    largest = std::max(largest, distance(alone.at(kRoot, i + 1), logits[0][i]));
    if (i + 2 < length) canvas.commit(i + 1, tokens[i + 1]);
  }
  return largest;
}

// Returns by how much logarithms of probabilities may lie from those of f64. They are differences
// of two numbers that are at most as far off as the logits.
double largest_allowed(const TransformerConfig& config, Precision precision,
                       const at::Tensor& logits) {
  const double largest = logits.abs().max().item<double>();
  const Passed passed = passed_by(config, logits.size(1));
  const double sums = 2 * rounding(passed, largest);
  return precision == Precision::bf16 ? sums + 2 * bf16_rounding(passed.layers, largest) : sums;
}

std::string llama_complaint(const fs::path& checkpoint) {
  return complaint([&] { Transformer::load(checkpoint.string()); });
}

void copy_bundle(const std::string& name, const fs::path& to) {
  fs::remove_all(to);
  fs::copy(kBundles / name, to);
}

}  // namespace

DOCTEST_TEST_CASE("parity: llama and mistral, whole and row by row, in four precisions") {
  at::set_num_threads(1);
  const at::NoGradGuard no_grad;
  // Eight and four bits also round rows, to the same numbers in any order of sums
  // (make_bundles.py).
  const std::vector<std::pair<Precision, std::string>> precisions = {
      {Precision::f32, "logits"},
      {Precision::bf16, "logits.bf16"},
      {Precision::q8, "logits.q8.rows"},
      {Precision::q4, "logits.q4.rows"}};
  for (const std::string name : {"llama-3", "mistral"}) {
    DOCTEST_INFO(name);
    const SafetensorsFile io((kBundles / name / "io.safetensors").string());
    const at::Tensor ids = read(io, "input_ids"), logits = read(io, "logits");
    const std::int64_t length = ids.size(1);
    const Transformer net = Transformer::load((kBundles / name).string());
    const std::vector<at::Tensor> hidden =
        transformer_hidden(net, {ids, at::arange(length, at::kLong).unsqueeze(0),
                                 at::ones({length, length}, at::kBool).tril()});
    for (std::size_t i = 0; i < hidden.size(); ++i)
      expect_close(net.config, hidden[i], read(io, "hidden." + std::to_string(i)));
    expect_close(net.config, logits_of(net, ids), logits);
    for (const auto& [precision, expected] : precisions) {
      const auto model = make(kBundles / name, {}, precision);
      const at::Tensor wanted = read(io, expected);
      const double largest = largest_distance(*model, tokens_of(ids), wanted);
      const double most = largest_allowed(net.config, precision, wanted);
      std::cout << "parity " << name << " " << word(precision) << ": log p differs by " << largest
                << " at most, and may by " << most << "\n";
      DOCTEST_CHECK(largest <= most);
    }
  }
}

DOCTEST_TEST_CASE("llama: tensor operations of a device give the logits that numpy computed") {
  const at::NoGradGuard no_grad;
  for (const std::string name : {"llama-3", "mistral"}) {
    const SafetensorsFile io((kBundles / name / "io.safetensors").string());
    const at::Tensor ids = read(io, "input_ids");
    const Transformer net = Transformer::load((kBundles / name).string());
    const DeviceRows rows(net, at::kFloat);
    RowMemory memory(net.config, ids.size(1));
    std::vector<MemoryRow> asked;
    for (std::int64_t i = 0; i < ids.size(1); ++i)
      asked.push_back({.memory = &memory,
                       .position = static_cast<std::int32_t>(i),
                       .token = static_cast<Token>(ids[0][i].item<std::int64_t>()),
                       .slot = i,
                       .limit = i + 1,
                       .extras = {},
                       .asked = true});
    expect_close(net.config, rows.forward(asked), read(io, "logits")[0]);
  }
}

DOCTEST_TEST_CASE("llama: a GGUF file in eight bits computes with exactly its numbers") {
  at::set_num_threads(1);
  const at::NoGradGuard no_grad;
  const SafetensorsFile io((kBundles / "llama-3" / "io.safetensors").string());
  const at::Tensor ids = read(io, "input_ids");
  const Transformer net = Transformer::load((kBundles / "llama-3-gguf").string());
  expect_close(net.config, logits_of(net, ids), read(io, "logits.q8"));
  // Rounding the decoded numbers again leaves them alone.
  const auto file = make(kBundles / "llama-3-gguf", {}, Precision::q8),
             own = make(kBundles / "llama-3", {}, Precision::q8);
  const std::vector<Token> tokens = tokens_of(ids);
  const int length = static_cast<int>(tokens.size());
  const Canvas canvas = prompted(length, {tokens[0]});
  const Question chain = path(1, {tokens.begin() + 1, tokens.end() - 1}, length);
  const auto first = file->open(canvas), second = own->open(canvas);
  DOCTEST_CHECK(same_bits(ask(*file, *first, chain), ask(*own, *second, chain), chain));
}

DOCTEST_TEST_CASE(
    "llama: a GGUF file that a benchmark writes for llama.cpp holds the same network") {
  const at::NoGradGuard no_grad;
  for (const std::string family : {"llama", "mistral"}) {
    const Folder folder;
    const Transformer net = Transformer::random(tiny(family), 7, 0.3);
    net.save(folder.path.string(), false);
    write_gguf(folder.path.string(), GgufType::f32, (folder.path / "model.gguf").string());
    fs::remove(folder.path / "model.safetensors");
    const Transformer read = Transformer::load(folder.path.string());
    const at::Tensor ids = at::arange(12, at::kLong).unsqueeze(0);
    DOCTEST_CHECK(at::equal(logits_of(read, ids), logits_of(net, ids)));
  }
  const Folder scaled;
  copy_bundle("llama-3", scaled.path);
  DOCTEST_CHECK_THROWS_AS(write_gguf(scaled.path.string(), GgufType::f32, "none.gguf"), DataError);
}

DOCTEST_TEST_CASE("llama: what GGUF and config.json say otherwise is refused") {
  const Folder folder;
  copy_bundle("llama-3-gguf", folder.path);
  DOCTEST_CHECK(llama_complaint(folder.path) == "nothing");
  rewrite(folder.path / "config.json", "\"factor\": 8.0", "\"factor\": 4.0");
  DOCTEST_CHECK(
      says(llama_complaint(folder.path), "'rope_freqs.weight' divides frequency 1 by 2.76"));
  copy_bundle("llama-3-gguf", folder.path);
  rewrite(folder.path / "config.json", "\"llama\"", "\"qwen2\"");
  rewrite(folder.path / "config.json", "\"rope_type\": \"llama3\"", "\"rope_type\": \"default\"");
  rewrite(folder.path / "config.json", "\"rope_scaling\"", "\"rope_parameters\"");
  DOCTEST_CHECK(says(llama_complaint(folder.path),
                     "general.architecture is 'llama', and config.json is of another family"));
  // Mixtral's files have that architecture, too.
  SmallGguf mixture;
  mixture.architecture("llama");
  mixture.tensor("blk.0.ffn_gate_inp.weight", {8, 32}, std::vector<float>(256, 0.5f),
                 GgufType::f32);
  copy_bundle("llama-3-gguf", folder.path);
  std::ofstream(folder.path / "model.gguf", std::ios::binary) << mixture.bytes();
  DOCTEST_CHECK(says(llama_complaint(folder.path),
                     "holds a tensor 'blk.0.ffn_gate_inp.weight' that a transformer of this kind"));
}

DOCTEST_TEST_CASE("llama: frequencies that older checkpoints hold are left out") {
  const at::NoGradGuard no_grad;
  const Folder folder;
  const Transformer net = Transformer::load((kBundles / "llama-3").string());
  auto tensors = net.stored_tensors();
  tensors.emplace_back("model.layers.1.self_attn.rotary_emb.inv_freq", at::ones({4}));
  net.save(folder.path.string(), false);
  write_weights((folder.path / "model.safetensors").string(), tensors, false, {});
  DOCTEST_CHECK(llama_complaint(folder.path) == "nothing");
}

DOCTEST_TEST_CASE("llama: what is saved is read again, with its scaling and its window") {
  const at::NoGradGuard no_grad;
  const Folder folder;
  for (const std::string name : {"llama-3", "mistral"}) {
    Transformer net = Transformer::load((kBundles / name).string());
    if (name == "mistral") net.config.sliding_window = 16;
    const SafetensorsFile io((kBundles / name / "io.safetensors").string());
    net.save(folder.path.string(), false);
    const Transformer again = Transformer::load(folder.path.string());
    DOCTEST_CHECK(
        at::equal(logits_of(again, read(io, "input_ids")), logits_of(net, read(io, "input_ids"))));
    DOCTEST_CHECK(again.config.sliding_window == net.config.sliding_window);
    DOCTEST_CHECK(again.config.rope.scaling.kind == net.config.rope.scaling.kind);
  }
}

DOCTEST_TEST_CASE("mistral: canvases within the window are decoded, longer ones refused") {
  const Folder folder;
  copy_bundle("mistral", folder.path);
  rewrite(folder.path / "config.json", "\"sliding_window\": null", "\"sliding_window\": 16");
  DOCTEST_CHECK(make(folder.path)->facts().longest == 16);
  try {
    make(folder.path)->open(prompted(17, {1}));
    DOCTEST_FAIL("a canvas of 17 positions was opened");
  } catch (const ConfigError& error) {
    DOCTEST_CHECK(says(error.what(),
                       "17 positions is longer than the 16 that the 'sliding_window' "
                       "of " +
                           folder.path.string() + "/config.json can hold"));
  }
  AutoregressiveOptions longer;
  longer.longest = 17;
  try {
    make(folder.path, longer);
    DOCTEST_FAIL("a canvas of 17 positions was promised");
  } catch (const ConfigError& error) {
    DOCTEST_CHECK(says(error.what(), "longest = 17 is more than the 'sliding_window' of 16"));
  }
  // Without the key Mistral's own 4096 rows hold.
  rewrite(folder.path / "config.json", "\"sliding_window\": 16,", "");
  rewrite(folder.path / "config.json", "\"max_position_embeddings\": 512",
          "\"max_position_embeddings\": 8192");
  DOCTEST_CHECK(make(folder.path)->facts().longest == 4096);
}

DOCTEST_TEST_CASE("llama2.c: a file answers as the folder of the same weights") {
  at::set_num_threads(1);
  const at::NoGradGuard no_grad;
  const Folder folder;
  fs::create_directories(folder.path);
  for (const bool tied : {true, false}) {
    Transformer net = [&] {
      TransformerConfig config = tiny("llama");
      config.tie_word_embeddings = tied;
      config.rms_norm_eps = 1e-5;
      config.rope.theta = 1e4;
      return Transformer::random(config, 7, 0.3);
    }();
    const std::string path = (folder.path / "model.bin").string();
    std::ofstream(path, std::ios::binary) << llama2c_bytes(net);
    const Transformer read = Transformer::load(path, std::nullopt);
    DOCTEST_CHECK(read.config.tie_word_embeddings == tied);
    DOCTEST_CHECK(read.config.max_position_embeddings == 64);
    DOCTEST_CHECK(read.config.eos_token_id == std::vector<std::int64_t>{1});
    const at::Tensor ids = at::arange(12, at::kLong).unsqueeze(0);
    DOCTEST_CHECK(at::equal(logits_of(read, ids), logits_of(net, ids)));
    DOCTEST_CHECK(make(path)->facts().digest == weights_digest(path));
    DOCTEST_CHECK(make(path)->facts().digest.size() == 16);
  }
}

}  // namespace draftlab
