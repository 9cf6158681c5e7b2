#include "plugins/models/nn/transformer/sedd_config.h"

#include "core/base/error.h"

namespace draftlab {
namespace {

constexpr std::int64_t kLargestSize = 1 << 20;

// Returns the object under a key of a file that has it.
ConfigFile object_of(const ConfigFile& file, const char* key) { return *file.object(key); }

// Throws DataError unless `type` of the object under `key` is there and is `wanted`.
void require_type(const ConfigFile& file, const char* key, const std::string& wanted) {
  const auto type = object_of(file, key).value<std::string>("type", "");
  if (type != wanted)
    throw DataError("{}: '{}.type' is '{}', only '{}' is supported", file.path(), key, type,
                    wanted);
}

}  // namespace

bool is_sedd(const ConfigFile& file) {
  const auto has_object = [&](const char* key) {
    return file.has(key) && file.keys()[key].is_object();
  };
  return file.family().empty() && has_object("graph") && has_object("noise") && has_object("model");
}

TransformerConfig read_sedd(const ConfigFile& file) {
  require_type(file, "graph", "absorb");
  require_type(file, "noise", "loglinear");
  require_type(file, "model", "ddit");
  const ConfigFile model = object_of(file, "model");
  model.require("scale_by_sigma", true);
  TransformerConfig config;
  config.model_type = "sedd";
  // The absorbing state is one more token, behind the others.
  config.mask_token_id = file.integer("tokens", 1, 10'000'000, 0);
  config.vocab_size = config.mask_token_id + 1;
  config.hidden_size = model.integer("hidden_size", 1, kLargestSize, 0);
  config.num_hidden_layers = model.integer("n_blocks", 1, 1024, 0);
  config.num_attention_heads = config.num_key_value_heads = model.integer("n_heads", 1, 4096, 0);
  config.condition_dim = model.integer("cond_dim", 1, kLargestSize, 0);
  config.max_position_embeddings = model.integer("length", 1, kLargestSize, 0);
  if (config.hidden_size % (2 * config.num_attention_heads))
    throw DataError("{}: 'model.hidden_size' is {}, no even multiple of the {} of 'model.n_heads'",
                    file.path(), config.hidden_size, config.num_attention_heads);
  config.head_dim = config.hidden_size / config.num_attention_heads;
  // What the next lines say stands in no file.
  config.intermediate_size = 4 * config.hidden_size;
  config.rms_norm_eps = 1e-5;
  config.rope.theta = 1e4;
  return config;
}

Json sedd_json(const TransformerConfig& config) {
  return {{"graph", {{"type", "absorb"}}},
          {"noise", {{"type", "loglinear"}}},
          {"model",
           {{"type", "ddit"},
            {"hidden_size", config.hidden_size},
            {"n_blocks", config.num_hidden_layers},
            {"n_heads", config.num_attention_heads},
            {"cond_dim", config.condition_dim},
            {"length", config.max_position_embeddings},
            {"dropout", 0.1},
            {"scale_by_sigma", true}}},
          {"tokens", config.mask_token_id}};
}

}  // namespace draftlab
