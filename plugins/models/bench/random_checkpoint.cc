#include "plugins/models/bench/random_checkpoint.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "plugins/models/nn/torch_module.h"
#include "plugins/models/nn/transformer/transformer_config.h"

namespace draftlab {
namespace {

struct Shape {
  const char* family;
  std::int64_t vocabulary, width, layers, heads, groups, inner;
  double epsilon, theta;
  bool tied;
};

const std::map<std::string, Shape>& transformers() {
  static const std::map<std::string, Shape> all{
      {"sdar-1.7b", {"sdar", 151936, 2048, 28, 16, 8, 6144, 1e-6, 1e6, false}},
      {"sdar-4b", {"sdar", 151936, 2560, 36, 32, 8, 9728, 1e-6, 1e6, false}},
      {"sdar-8b", {"sdar", 151936, 4096, 36, 32, 8, 12288, 1e-6, 1e6, false}},
      {"fast-dllm-v2-1.5b", {"Fast_dLLM_Qwen", 151936, 1536, 28, 12, 2, 8960, 1e-6, 1e6, true}},
      {"fast-dllm-v2-7b", {"Fast_dLLM_Qwen", 152064, 3584, 28, 28, 4, 18944, 1e-6, 1e6, false}},
      {"llada2.1-mini", {"llada2_moe", 157184, 2048, 20, 16, 4, 5120, 1e-6, 6e5, false}},
      {"llada-8b", {"llada", 126464, 4096, 32, 32, 32, 12288, 1e-5, 5e5, false}},
      {"dream-7b", {"Dream", 152064, 3584, 28, 28, 4, 18944, 1e-6, 1e6, false}},
      {"sedd-small", {"sedd", 50258, 768, 12, 12, 12, 3072, 1e-5, 1e4, false}},
      {"sedd-medium", {"sedd", 50258, 1024, 24, 16, 16, 4096, 1e-5, 1e4, false}},
      {"smollm-135m", {"llama", 49152, 576, 30, 9, 3, 1536, 1e-5, 1e4, true}},
      {"tinyllama-1.1b", {"llama", 32000, 2048, 22, 32, 4, 5632, 1e-5, 1e4, false}},
      {"gpt2", {"gpt2", 50257, 768, 12, 12, 12, 3072, 1e-5, 1e4, true}},
      // These were never published: sizes for `draftlab bench rows`.
      {"llama-3m", {"llama", 2048, 256, 4, 4, 2, 512, 1e-5, 1e4, true}},
      {"qwen3-3m", {"qwen3", 2048, 256, 4, 2, 2, 512, 1e-6, 1e6, true}},
      {"qwen3-24m", {"qwen3", 8192, 384, 12, 3, 3, 1024, 1e-6, 1e6, true}},
      {"qwen3-110m", {"qwen3", 32000, 768, 12, 6, 6, 2048, 1e-6, 1e6, true}},
      {"gpt2-large", {"gpt2", 50257, 1280, 36, 20, 20, 5120, 1e-5, 1e4, true}},
  };
  return all;
}

// For each name of an XLNet: layers, width, heads and inner width.
const std::map<std::string, std::array<int, 4>>& xlnets() {
  static const std::map<std::string, std::array<int, 4>> all{{"xlnet-base", {12, 768, 12, 3072}},
                                                             {"xlnet-large", {24, 1024, 16, 4096}}};
  return all;
}

// For each name of a MAR: width, layers of the encoder and of the decoder, heads, and width and
// blocks of the diffusion head.
const std::map<std::string, std::array<int, 5>>& mars() {
  static const std::map<std::string, std::array<int, 5>> all{
      {"mar-base", {768, 12, 12, 1024, 6}},
      {"mar-large", {1024, 16, 16, 1280, 8}},
      {"mar-huge", {1280, 20, 16, 1536, 12}}};
  return all;
}

nlohmann::json xlnet_config(const std::array<int, 4>& shape) {
  const auto [layers, width, heads, inner] = shape;
  return {{"architectures", {"XLNetLMHeadModel"}},
          {"model_type", "xlnet"},
          {"attn_type", "bi"},
          {"bi_data", false},
          {"clamp_len", -1},
          {"same_length", false},
          {"untie_r", true},
          {"ff_activation", "gelu"},
          {"vocab_size", 32000},
          {"d_model", width},
          {"n_layer", layers},
          {"n_head", heads},
          {"d_head", 64},
          {"d_inner", inner},
          {"layer_norm_eps", 1e-12},
          {"bos_token_id", 1},
          {"eos_token_id", 2},
          {"pad_token_id", 5}};
}

nlohmann::json mar_config(const std::array<int, 5>& shape) {
  const auto [width, layers, heads, head_width, head_blocks] = shape;
  return {{"model_type", "mar"},        {"img_size", 256},
          {"vae_stride", 16},           {"patch_size", 1},
          {"vae_embed_dim", 16},        {"encoder_embed_dim", width},
          {"encoder_depth", layers},    {"encoder_num_heads", heads},
          {"decoder_embed_dim", width}, {"decoder_depth", layers},
          {"decoder_num_heads", heads}, {"mlp_ratio", 4},
          {"class_num", 1000},          {"buffer_size", 64},
          {"diffloss_d", head_blocks},  {"diffloss_w", head_width},
          {"num_sampling_steps", "100"}};
}

TransformerConfig config_of(const Shape& shape) {
  TransformerConfig config;
  config.model_type = shape.family;
  config.vocab_size = shape.vocabulary;
  config.hidden_size = shape.width;
  config.num_hidden_layers = shape.layers;
  config.num_attention_heads = shape.heads;
  config.num_key_value_heads = shape.groups;
  config.head_dim =
      config.gpt2() || config.llama() || config.sedd() ? shape.width / shape.heads : 128;
  config.intermediate_size = shape.inner;
  config.rms_norm_eps = shape.epsilon;
  config.rope.theta = shape.theta;
  config.tie_word_embeddings = shape.tied;
  if (config.gpt2() || config.sedd()) config.max_position_embeddings = 1024;
  if (config.sedd()) {
    config.condition_dim = 128;
    config.mask_token_id = shape.vocabulary - 1;
  }
  if (!config.llada2()) return config;
  config.rotary_dim = 64;
  config.experts = {.count = 256,
                    .chosen = 8,
                    .shared = 1,
                    .inner = 512,
                    .first_layer = 1,
                    .groups = 8,
                    .best_groups = 4,
                    .scale = 2.5};
  return config;
}

// Returns number `index` of the tensor with this key, in [-1, 1).
float uniform(std::uint64_t key, std::uint64_t index) {
  std::uint64_t bits = key + index * 0x9e3779b97f4a7c15ull;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ull;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebull;
  return static_cast<float>(static_cast<std::int32_t>(bits >> 32)) * 0x1p-31f;
}

// Gives the numbers of one tensor, some at a time.
class Numbers {
 public:
  explicit Numbers(ElementType type) : type_(type), buffer_(std::size_t{4} << 20) {}

  std::span<const std::byte> from(const std::string& name, const TensorBytes& tensor,
                                  std::uint64_t at) {
    const bool bias = name.ends_with("bias"),
               norm = !bias && (name.find("norm") != std::string::npos ||
                                name.find("ln_") != std::string::npos);
    const std::size_t size = element_size(type_);
    const std::uint64_t bytes = std::min<std::uint64_t>(buffer_.size(),
                                                        byte_count(tensor.type, tensor.shape) - at),
                        key = std::hash<std::string>()(name);
    for (std::uint64_t i = 0; i < bytes / size; ++i) {
      const float number = bias   ? 0
                           : norm ? 1
                                  : 0.02f * std::sqrt(3.0f) * uniform(key, at / size + i);
      const auto bits = std::bit_cast<std::uint32_t>(number);
      if (type_ == ElementType::f32) std::memcpy(buffer_.data() + i * 4, &bits, 4);
      // The number is cut, not rounded; it is random either way.
      else
        std::memcpy(buffer_.data() + i * 2, reinterpret_cast<const char*>(&bits) + 2, 2);
    }
    return std::span(buffer_).first(bytes);
  }

 private:
  ElementType type_;
  std::vector<std::byte> buffer_;
};

}  // namespace

std::vector<std::string> published_shapes() {
  std::vector<std::string> names;
  for (const auto& [name, shape] : transformers()) names.push_back(name);
  for (const auto& [name, shape] : xlnets()) names.push_back(name);
  for (const auto& [name, shape] : mars()) names.push_back(name);
  return names;
}

void write_published_config(const std::string& name, const std::string& folder) {
  const auto transformer = transformers().find(name);
  const auto xlnet = xlnets().find(name);
  const auto mar = mars().find(name);
  if (transformer == transformers().end() && xlnet == xlnets().end() && mar == mars().end())
    throw UsageError("'{}' is neither a folder with a config.json nor one of {}", name,
                     joined(published_shapes()));
  make_folder(folder);
  if (transformer != transformers().end()) return config_of(transformer->second).write(folder);
  const nlohmann::json json =
      xlnet != xlnets().end() ? xlnet_config(xlnet->second) : mar_config(mar->second);
  write_whole(folder + "/config.json", json.dump(2) + "\n");
}

void write_random_weights(const std::string& folder, ElementType type, std::uint64_t shard_bytes) {
  if (type != ElementType::f32 && type != ElementType::bf16)
    throw Fault("random weights are f32 or bf16");
  TensorShapes shapes;
  torch_function<decltype(draftlab_checkpoint_shapes)>("draftlab_checkpoint_shapes")(&folder,
                                                                                     &shapes);
  std::vector<std::vector<std::pair<std::string, TensorBytes>>> files(1);
  std::uint64_t held = 0, total = 0;
  for (const auto& [name, shape] : shapes) {
    const std::uint64_t bytes = byte_count(type, shape);
    if (held > 0 && held + bytes > shard_bytes) files.emplace_back(), held = 0;
    files.back().push_back({name, {type, shape, {}}});
    held += bytes;
    total += bytes;
  }
  nlohmann::json index{{"metadata", {{"total_size", total}}},
                       {"weight_map", nlohmann::json::object()}};
  Numbers numbers(type);
  for (std::size_t i = 0; i < files.size(); ++i) {
    char name[64] = "model.safetensors";
    if (files.size() > 1)
      std::snprintf(name, sizeof name, "model-%05zu-of-%05zu.safetensors", i + 1, files.size());
    write_safetensors(folder + "/" + name, files[i], {{"format", "pt"}},
                      [&](std::size_t tensor, std::uint64_t from) {
                        return numbers.from(files[i][tensor].first, files[i][tensor].second, from);
                      });
    for (const auto& [tensor, bytes] : files[i]) index["weight_map"][tensor] = name;
  }
  if (files.size() > 1) write_whole(folder + "/model.safetensors.index.json", index.dump(2) + "\n");
}

}  // namespace draftlab
