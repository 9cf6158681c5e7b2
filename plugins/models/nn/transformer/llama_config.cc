#include "plugins/models/nn/transformer/llama_config.h"

#include "plugins/models/nn/checkpoint/llama2c.h"

namespace draftlab {

void read_llama(const ConfigFile& file, TransformerConfig& config) {
  for (const char* const off : {"mlp_bias", "rope_interleaved"}) file.require(off, false);
  file.require("partial_rotary_factor", 1);
  if (config.model_type != "mistral") return;
  // Where the key is left out there are 4096 rows; where it is null there is no window.
  const bool none = file.keys().contains("sliding_window") && !file.has("sliding_window");
  config.sliding_window = none ? 0 : file.integer("sliding_window", 1, 1 << 20, 4096);
}

TransformerConfig llama2c_config(const std::string& file) {
  const Llama2cShape shape = Llama2cFile(file).shape();
  TransformerConfig config;
  config.model_type = "llama";
  config.vocab_size = shape.vocabulary;
  config.hidden_size = shape.width;
  config.num_hidden_layers = shape.layers;
  config.num_attention_heads = shape.heads;
  config.num_key_value_heads = shape.groups;
  config.head_dim = shape.width / shape.heads;
  config.intermediate_size = shape.inner;
  config.max_position_embeddings = shape.positions;
  config.rms_norm_eps = 1e-5;
  config.rope.theta = 1e4;
  config.tie_word_embeddings = shape.tied;
  // A text ends where the next one begins.
  config.eos_token_id = {1};
  return config;
}

}  // namespace draftlab
