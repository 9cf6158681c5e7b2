#include "plugins/models/nn/transformer/tensor_names.h"

namespace draftlab {
namespace {

TensorNames llada2_names() {
  TensorNames names;
  names.embedding = "model.word_embeddings.weight";
  names.attention = "attention.";
  names.o = "dense";
  names.q_norm = "query_layernorm";
  names.k_norm = "key_layernorm";
  names.fused = "query_key_value.weight";
  return names;
}

TensorNames llada_names() {
  const std::string model = "model.transformer.";
  TensorNames names;
  names.embedding = model + "wte.weight";
  names.norm = model + "ln_f.weight";
  names.head = model + "ff_out";
  names.layers = model + "blocks.";
  names.attention = names.mlp = "";
  names.input_norm = "attn_norm";
  names.post_norm = "ff_norm";
  names.o = "attn_out";
  names.gate = "ff_proj";
  names.down = "ff_out";
  return names;
}

TensorNames sedd_names() {
  TensorNames names;
  names.embedding = "vocab_embed.embedding";
  names.norm = "output_layer.norm_final.weight";
  names.head = "output_layer.linear";
  names.layers = "blocks.";
  names.attention = "";
  names.input_norm = "norm1";
  names.post_norm = "norm2";
  names.o = "attn_out";
  names.up = "0";
  names.down = "2";
  names.fused = "attn_qkv.weight";
  names.condition = "sigma_map.mlp.";
  names.modulation = "adaLN_modulation";
  names.last_modulation = "output_layer.adaLN_modulation";
  return names;
}

}  // namespace

TensorNames names_of(const TransformerConfig& config) {
  if (config.llada2()) return llada2_names();
  if (config.sedd()) return sedd_names();
  return config.model_type == "llada" ? llada_names() : TensorNames{};
}

}  // namespace draftlab
