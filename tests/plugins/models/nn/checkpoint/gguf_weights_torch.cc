// A transformer from a GGUF file: the weights that the file says, and the same again when they are
// rounded once more.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>

#include <filesystem>
#include <fstream>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "plugins/models/nn/checkpoint/weights_torch.h"
#include "plugins/models/nn/kernels/row_linear_torch.h"
#include "plugins/models/nn/transformer/transformer_torch.h"
#include "tests/plugins/models/nn/checkpoint/small_gguf.h"
#include "tests/scratch.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

Transformer small_qwen() {
  TransformerConfig config;
  config.model_type = "qwen3";
  config.vocab_size = 48;
  config.hidden_size = 64;
  config.num_hidden_layers = 2;
  config.num_attention_heads = 2;
  config.num_key_value_heads = 1;
  config.head_dim = 32;
  config.intermediate_size = 96;
  config.tie_word_embeddings = true;
  return Transformer::random(config, 3, 0.1);
}

// The name that GGUF gives a tensor.
std::string gguf_name(const std::string& own) {
  for (const std::string part :
       {"attn_norm", "ffn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "attn_q_norm",
        "attn_k_norm", "ffn_gate", "ffn_up", "ffn_down"})
    for (const std::string layer : {"0", "1"})
      if (const std::string name = "blk." + layer + "." + part + ".weight";
          name_of_gguf_tensor(name) == own)
        return name;
  return own == "model.norm.weight" ? "output_norm.weight" : "token_embd.weight";
}

void write(const Transformer& net, const std::string& architecture, GgufType type,
           const fs::path& folder) {
  SmallGguf file;
  file.architecture(architecture);
  for (const auto& [name, tensor] : net.named_parameters()) {
    const at::Tensor own = tensor.contiguous();
    const float* const numbers = own.data_ptr<float>();
    file.tensor(gguf_name(name), own.sizes().vec(), {numbers, numbers + own.numel()},
                own.dim() == 1 ? GgufType::f32 : type);
  }
  std::ofstream(folder / "model.gguf", std::ios::binary) << file.bytes();
}

at::Tensor kept(const at::Tensor& weight, Precision precision) {
  const RowLinear linear(weight, {}, precision);
  const at::Tensor all = at::empty(weight.sizes());
  for (std::int64_t o = 0; o < weight.size(0); ++o) linear.weights_of(o, all[o].data_ptr<float>());
  return all;
}

}  // namespace

DOCTEST_TEST_CASE("GGUF: a transformer has the file's weights, which rounding again leaves alone") {
  const at::NoGradGuard no_grad;
  const testing::Folder folder;
  const Transformer net = small_qwen();
  net.config.write(folder.path.string());
  for (const auto& [type, precision] :
       {std::pair(GgufType::q8_0, Precision::q8), std::pair(GgufType::q4_0, Precision::q4)}) {
    write(net, "qwen3", type, folder.path);
    const Transformer loaded = Transformer::load(folder.path.string(), std::nullopt);
    const auto own = net.named_parameters(), read = loaded.named_parameters();
    DOCTEST_REQUIRE(own.size() == read.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
      DOCTEST_INFO(own[i].first);
      DOCTEST_REQUIRE(own[i].first == read[i].first);
      if (own[i].second.dim() == 1) {
        DOCTEST_CHECK(at::equal(own[i].second, read[i].second));
        continue;
      }
      DOCTEST_CHECK(at::equal(read[i].second, kept(own[i].second, precision)));
      DOCTEST_CHECK(at::equal(read[i].second, kept(read[i].second, precision)));
      DOCTEST_CHECK_FALSE(at::equal(read[i].second, own[i].second));
    }
  }
  DOCTEST_CHECK(weights_digest(folder.path.string()).size() == 16);
  // Safetensors come first where both are there.
  net.save(folder.path.string(), false);
  const Transformer first = Transformer::load(folder.path.string(), std::nullopt);
  DOCTEST_CHECK(at::equal(first.layers[0].q, net.layers[0].q));
}

DOCTEST_TEST_CASE("GGUF: what does not fit config.json is refused") {
  const testing::Folder folder;
  const Transformer net = small_qwen();
  net.config.write(folder.path.string());
  const auto complaint = [&]() -> std::string {
    try {
      Transformer::load(folder.path.string(), std::nullopt);
    } catch (const DataError& error) {
      return error.what();
    }
    return "nothing";
  };
  write(net, "llama", GgufType::f32, folder.path);
  DOCTEST_CHECK(complaint().find("general.architecture is 'llama'") != std::string::npos);
  write(net, "qwen3", GgufType::f32, folder.path);
  DOCTEST_CHECK(complaint() == "nothing");
  Transformer narrow = small_qwen();
  narrow.config.intermediate_size = 64;
  narrow.config.write(folder.path.string());
  DOCTEST_CHECK(complaint().find("tensor 'blk.0.ffn_gate.weight' has shape [96, 64]") !=
                std::string::npos);
  narrow.config.intermediate_size = 96;
  narrow.config.num_hidden_layers = 1;
  narrow.config.write(folder.path.string());
  DOCTEST_CHECK(complaint().find("blk.1.") != std::string::npos);
  narrow.config.num_hidden_layers = 3;
  narrow.config.write(folder.path.string());
  DOCTEST_CHECK(complaint().find("has no tensor for 'model.layers.2.") != std::string::npos);
}

}  // namespace draftlab
