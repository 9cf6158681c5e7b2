#include "plugins/models/nn/transformer/speculator_torch.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include <array>
#include <utility>

#include "core/base/error.h"
#include "plugins/models/nn/checkpoint/config_file.h"
#include "plugins/models/nn/checkpoint/weights_torch.h"

namespace draftlab {
namespace {

constexpr std::int64_t kWidest = 1 << 20;

// What Llama's or Qwen3's own configuration has for keys that a file leaves out.
struct Defaults {
  const char* family;
  std::int64_t inner, head;  // A head of 0 is as wide as the row's share of it.
};
constexpr std::array<Defaults, 2> kDefaults{{{"llama", 11008, 0}, {"qwen3", 22016, 128}}};

// Reads the layer that `transformer_layer_config` states.
TransformerConfig stated_layer(const ConfigFile& all, const char* usual_family) {
  const ConfigFile file =
      all.object("transformer_layer_config").value_or(ConfigFile(all.path(), Json::object()));
  const std::string family = file.value<std::string>("model_type", usual_family);
  const Defaults* usual = nullptr;
  for (const Defaults& one : kDefaults)
    if (family == one.family) usual = &one;
  if (!usual)
    throw DataError("{}: its layer is of family '{}', and those of llama and qwen3 are computed",
                    file.path(), family);
  file.require("hidden_act", "silu");
  file.require("mlp_bias", false);
  file.require("use_sliding_window", false);
  for (const Json& type : file.value<Json>("layer_types", Json::array()))
    if (type != "full_attention")
      throw DataError("{}: 'layer_types' holds {}, only \"full_attention\" is computed",
                      file.path(), type.dump().substr(0, 40));
  TransformerConfig config;
  config.num_hidden_layers = file.integer("num_hidden_layers", 1, 1024, 32);
  // LLaDA's layers are Llama's; the names of tensors are not read here.
  config.model_type = family == "llama" ? "llada" : family;
  config.hidden_size = file.integer("hidden_size", 1, kWidest, 4096);
  config.intermediate_size = file.integer("intermediate_size", 1, kWidest, usual->inner);
  config.num_attention_heads = file.integer("num_attention_heads", 1, 4096, 32);
  config.num_key_value_heads = file.integer("num_key_value_heads", 1, config.num_attention_heads,
                                            config.num_attention_heads);
  const std::int64_t share = config.hidden_size / config.num_attention_heads;
  config.head_dim = file.integer("head_dim", 2, kWidest, usual->head > 0 ? usual->head : share);
  config.rms_norm_eps = file.value<double>("rms_norm_eps", 1e-6);
  config.rope = read_rope(file);
  config.attention_bias = file.value<bool>("attention_bias", false);
  if (config.num_attention_heads % config.num_key_value_heads || config.head_dim % 2)
    throw DataError("{}: its {} attention heads of {} do not share {} of keys and values",
                    file.path(), config.num_attention_heads, config.head_dim,
                    config.num_key_value_heads);
  return config;
}

// The tensors of a head, as they are found in a folder.
class Reading {
 public:
  Reading(const std::string& folder, FeatureHead& head)
      : weights(weight_files(folder)), head_(head) {
    head.parameters.clear();
    // What the target lends may be stored beside the head, and whether a token is known says d2t.
    for (const char* const other : {"verifier_lm_head.weight", "verifier_norm.weight", "t2d"})
      weights.ignore(other);
  }
  // Takes a tensor of the shape that the head has for it, or lets the head have none.
  void reads(const std::string& name, at::Tensor& tensor, bool there = true) {
    if (!there) tensor = at::Tensor();
    if (!tensor.defined()) return;
    tensor.copy_(weights.take(name, tensor.sizes().vec(), at::kFloat));
    head_.parameters.emplace_back(name, tensor);
  }
  // Takes the projection to the vocabulary, and the embedding where the head has its own, which are
  // the last tensors.
  void reads_vocabulary(const TransformerConfig& target) {
    const auto known = static_cast<std::int64_t>(head_.shape.tokens.size());
    head_.output = at::zeros({known > 0 ? known : target.vocab_size, target.hidden_size});
    reads("lm_head.weight", head_.output);
    if (weights.has("embed_tokens.weight"))
      head_.embedding = at::zeros({target.vocab_size, target.hidden_size});
    reads("embed_tokens.weight", head_.embedding);
    weights.expect_all_taken();
  }
  // Takes a layer's tensors but those of its norms at both ends.
  void reads_layer(const std::string& room, std::size_t index = 0) {
    TransformerLayer& layer = head_.net.layers[index];
    const std::string attention = room + "self_attn.", mlp = room + "mlp.";
    reads(attention + "q_proj.weight", layer.q);
    reads(attention + "k_proj.weight", layer.k);
    reads(attention + "v_proj.weight", layer.v);
    reads(attention + "o_proj.weight", layer.o);
    reads(attention + "q_proj.bias", layer.q_bias);
    reads(attention + "k_proj.bias", layer.k_bias);
    reads(attention + "v_proj.bias", layer.v_bias);
    reads(attention + "o_proj.bias", layer.o_bias);
    reads(attention + "q_norm.weight", layer.q_norm);
    reads(attention + "k_norm.weight", layer.k_norm);
    reads(room + "post_attention_layernorm.weight", layer.post_attention_layernorm);
    reads(mlp + "gate_proj.weight", layer.gate);
    reads(mlp + "up_proj.weight", layer.up);
    reads(mlp + "down_proj.weight", layer.down);
  }
  Weights weights;

 private:
  FeatureHead& head_;
};

FeatureHead read_eagle(const std::string& folder, const ConfigFile& file,
                       const TransformerConfig& shape) {
  file.require("transformer_layer_architecture", "LlamaDecoderLayer");
  const bool norms = file.value<bool>("layernorms", false);
  FeatureHead head(shape, {.kind = FeatureKind::eagle, .first_row = false});
  Reading from(folder, head);
  for (const char* const lent : {"embed_tokens.weight", "lm_head.weight"})
    from.weights.ignore(lent);
  head.embedding_norm = at::zeros({shape.hidden_size});
  from.reads("embedding_layernorm.weight", head.embedding_norm, norms);
  from.reads("fusion_fc.weight", head.join);
  from.reads("fusion_fc.bias", head.join_bias, file.value<bool>("fusion_bias", false));
  from.reads("transformer.input_layernorm.weight", head.net.layers.front().input_layernorm, norms);
  from.reads_layer("transformer.");
  from.reads("pre_lm_head_layernorm.weight", head.net.norm, norms);
  from.weights.expect_all_taken();
  return head;
}

// Reads the states and the tokens of a head that reads several layers, given the key of the former.
// Where the file names no layers, they are those that the format's programs take.
FeatureShape layered_shape(const std::string& folder, const ConfigFile& file,
                           const TransformerConfig& target, const char* layers) {
  FeatureShape shape;
  shape.taps = file.value<std::vector<std::int64_t>>(
      layers, {2, target.num_hidden_layers / 2, target.num_hidden_layers - 3});
  Weights weights(weight_files(folder));
  shape.tokens = tokens_at(weights.take_integers("d2t"));
  const auto known = static_cast<std::int64_t>(shape.tokens.size());
  const std::int64_t stated = file.integer("draft_vocab_size", 1, target.vocab_size, 32000);
  if (stated != (known > 0 ? known : target.vocab_size))
    throw DataError("{}: 'draft_vocab_size' is {}, but d2t has {} of the target's {} tokens",
                    file.path(), stated, known, target.vocab_size);
  return shape;
}

// Returns the config of a head's layers, with what only its target says.
TransformerConfig beside(TransformerConfig layer, const TransformerConfig& target) {
  layer.vocab_size = target.vocab_size;
  layer.num_hidden_layers = target.num_hidden_layers;
  return layer;
}

FeatureHead read_eagle3(const std::string& folder, const ConfigFile& file,
                        const TransformerConfig& shape, const TransformerConfig& target) {
  for (const char* const off : {"norm_before_fc", "fc_norm"}) file.require(off, false);
  file.require("target_hidden_size", target.hidden_size);
  FeatureShape own = layered_shape(folder, file, target, "eagle_aux_hidden_state_layer_ids");
  own.kind = FeatureKind::eagle3;
  own.first_row = false;
  check_shape(own, target, file.path());
  FeatureHead head(beside(shape, target), std::move(own));
  Reading from(folder, head);
  from.weights.ignore("d2t");
  TransformerLayer& layer = head.net.layers.front();
  from.reads("fc.weight", head.fuse);
  from.reads("layers.0.input_layernorm.weight", head.embedding_norm);
  // The row is the state, or what its norm makes of it.
  if (file.value<bool>("norm_before_residual", false))
    std::swap(layer.input_layernorm, head.state_norm);
  from.reads("layers.0.hidden_norm.weight",
             head.state_norm.defined() ? head.state_norm : layer.input_layernorm);
  from.reads_layer("layers.0.");
  // The next draft reads the state before the last norm, or after it.
  if (file.value<bool>("norm_output", false)) std::swap(head.net.norm, head.output_norm);
  from.reads("norm.weight", head.net.norm.defined() ? head.net.norm : head.output_norm);
  from.reads_vocabulary(target);
  return head;
}

FeatureHead read_dflash(const std::string& folder, const ConfigFile& file,
                        const TransformerConfig& shape, const TransformerConfig& target) {
  file.require("sample_from_anchor", false);
  file.require("target_hidden_size", target.hidden_size);
  FeatureShape own = layered_shape(folder, file, target, "aux_hidden_state_layer_ids");
  own.kind = FeatureKind::dflash;
  own.layers = shape.num_hidden_layers;
  own.block = file.integer("block_size", 2, 4096, 8);
  own.mask = static_cast<Token>(file.integer("mask_token_id", 0, target.vocab_size - 1, -1));
  check_shape(own, target, file.path());
  FeatureHead head(beside(shape, target), std::move(own));
  Reading from(folder, head);
  from.weights.ignore("d2t");
  from.reads("fc.weight", head.fuse);
  from.reads("hidden_norm.weight", head.state_norm);
  for (std::size_t i = 0; i < head.net.layers.size(); ++i) {
    const std::string room = "layers." + std::to_string(i) + ".";
    from.reads(room + "input_layernorm.weight", head.net.layers[i].input_layernorm);
    from.reads_layer(room, i);
  }
  from.reads("norm.weight", head.net.norm);
  from.reads_vocabulary(target);
  return head;
}

FeatureHead read_mtp(const std::string& folder, const ConfigFile& file,
                     const TransformerConfig& shape) {
  file.require("num_nextn_predict_layers", 1);
  FeatureHead head(shape, {.kind = FeatureKind::mtp, .first_row = false});
  Reading from(folder, head);
  for (const char* const lent : {"embed_tokens.weight", "lm_head.weight"})
    from.weights.ignore(lent);
  const bool native = from.weights.has("mtp.fc.weight");
  const std::string own = "mtp_layers.0.", room = native ? "mtp.layers.0." : own;
  from.reads(native ? "mtp.pre_fc_norm_embedding.weight" : own + "token_layernorm.weight",
             head.embedding_norm);
  from.reads(native ? "mtp.pre_fc_norm_hidden.weight" : own + "hidden_layernorm.weight",
             head.state_norm);
  from.reads(native ? "mtp.fc.weight" : own + "input_proj.weight", head.join);
  from.reads(room + "input_layernorm.weight", head.net.layers.front().input_layernorm);
  from.reads_layer(room);
  from.reads(native ? "mtp.norm.weight" : own + "final_layernorm.weight", head.net.norm);
  from.weights.expect_all_taken();
  return head;
}

}  // namespace

FeatureHead load_speculator(const std::string& folder, const TransformerConfig& target) {
  const at::NoGradGuard no_grad;
  const ConfigFile file =
      ConfigFile::in(folder,
                     "a feature head is a folder with feature_head.safetensors, or one "
                     "of the speculators format");
  const std::string& path = file.path();
  if (!file.keys().contains("speculators_model_type"))
    throw DataError("{}: does not say its 'speculators_model_type': it holds no feature head",
                    path);
  const auto type = file.value<std::string>("speculators_model_type", "");
  if (type != "eagle" && type != "eagle3" && type != "mtp" && type != "dflash")
    throw DataError("{}: 'speculators_model_type' is '{}'; eagle, eagle3, mtp and dflash are read",
                    path, type);
  const TransformerConfig shape = stated_layer(file, type == "eagle" ? "llama" : "qwen3");
  if (shape.hidden_size != target.hidden_size)
    throw DataError("{}: its head reads states of {} numbers, and the target has {}", path,
                    shape.hidden_size, target.hidden_size);
  if (target.num_encoder_layers > 0)
    throw DataError(
        "{}: a head of the speculators format attends no encoder, and the target has one", path);
  if (type == "eagle") return read_eagle(folder, file, shape);
  if (type == "mtp") return read_mtp(folder, file, shape);
  if (type == "dflash") return read_dflash(folder, file, shape, target);
  return read_eagle3(folder, file, shape, target);
}

}  // namespace draftlab
