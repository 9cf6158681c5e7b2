// The names that the files of a family give the tensors of a transformer.
#pragma once

#include <string>

#include "plugins/models/nn/transformer/transformer_config.h"

namespace draftlab {

struct TensorNames {
  std::string embedding = "model.embed_tokens.weight", norm = "model.norm.weight", head = "lm_head",
              layers = "model.layers.";
  // The prefixes of the tensors of attention and of the feed-forward network.
  std::string attention = "self_attn.", mlp = "mlp.";
  std::string input_norm = "input_layernorm", post_norm = "post_attention_layernorm", o = "o_proj",
              gate = "gate_proj", up = "up_proj", down = "down_proj";
  std::string q_norm = "q_norm", k_norm = "k_norm";
  // The tensor that holds a layer's q, k and v below one another; "" where each has its own.
  std::string fused;
  // Of a network that reads a noise level: the prefix of what makes a condition of it, and what
  // makes shifts, scales and gates of the condition, in a layer and behind the last one.
  std::string condition, modulation, last_modulation;
};

TensorNames names_of(const TransformerConfig& config);

}  // namespace draftlab
