// Widens the transformers of the Qwen line and GPT-2, with an encoder and prediction heads where
// they have some.
//
// RMSNorm over a row and as many zeros has a mean square of 1 / copies of the row's own. With
// weights and roots smaller by the root of copies, and an epsilon smaller by copies, that is the
// same norm, to the last bit where copies is a power of four. Elsewhere, and for LayerNorm, whose
// mean zeros would change, the row is repeated: then a tied head sums so many equal logits, and the
// last norm is divided by copies.
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>

#include "core/base/error.h"
#include "plugins/models/nn/checkpoint/weights_torch.h"
#include "plugins/models/nn/transformer/prediction_heads_torch.h"
#include "plugins/models/nn/transformer/transformer_torch.h"
#include "plugins/models/widen/families_torch.h"

namespace draftlab {
namespace {

bool pads(const TransformerConfig& config, std::int64_t copies) {
  const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(copies)));
  return !config.gpt2() && root * root == copies;
}

TransformerConfig grown_config(TransformerConfig config, const Growth& growth) {
  if (pads(config, growth.copies)) config.rms_norm_eps /= static_cast<double>(growth.copies);
  config.hidden_size *= growth.copies;
  config.num_attention_heads *= growth.copies;
  config.num_key_value_heads *= growth.copies;
  config.intermediate_size = growth.inner;
  config.num_hidden_layers += growth.layers;
  if (config.num_encoder_layers > 0) config.num_encoder_layers += growth.layers;
  return config;
}

class TransformerGrowth {
 public:
  TransformerGrowth(const TransformerConfig& config, const Growth& growth)
      : growth_(growth),
        pads_(pads(config, growth.copies)),
        tied_(config.tie_word_embeddings),
        head_norm_(config.qk_norm()),
        root_(std::sqrt(static_cast<double>(growth.copies))),
        copies_(static_cast<double>(growth.copies)) {}

  // What is written to the stream: rows of a weight, entries of a bias, columns of an embedding.
  at::Tensor written(const at::Tensor& tensor, std::int64_t dim = 0) const {
    if (!tensor.defined()) return tensor;
    const std::int64_t size = growth_.copies * tensor.size(dim);
    return pads_ ? padded(tensor, dim, size) : repeated(tensor, dim, size);
  }
  // A weight that reads the stream, heads, or inner rows, of which only the first count.
  at::Tensor reads(const at::Tensor& tensor, std::int64_t columns) const {
    return padded(tensor, 1, columns);
  }
  at::Tensor reads_stream(const at::Tensor& tensor) const {
    return reads(tensor, growth_.copies * tensor.size(1));
  }
  at::Tensor norm(const at::Tensor& weight) const {
    if (!weight.defined()) return weight;
    return written(pads_ ? weight / root_ : weight);
  }
  // The norm above the head. `prediction_heads` read it, too.
  at::Tensor last_norm(const at::Tensor& weight) const {
    if (!weight.defined()) return weight;
    return tied_ && !pads_ ? norm(weight) / copies_ : norm(weight);
  }
  at::Tensor heads(const at::Tensor& tensor) const {
    if (!tensor.defined()) return tensor;
    return repeated(tensor, 0, growth_.copies * tensor.size(0));
  }
  // Queries and keys, whose heads have a norm with the epsilon of the others.
  at::Tensor normed_heads(const at::Tensor& tensor) const {
    if (!tensor.defined()) return tensor;
    return heads(pads_ && head_norm_ ? tensor / root_ : tensor);
  }
  at::Tensor inner(const at::Tensor& tensor) const {
    return tensor.defined() ? repeated(tensor, 0, growth_.inner) : tensor;
  }

  TransformerLayer layer(const TransformerLayer& from) const {
    TransformerLayer to;
    to.input_layernorm = norm(from.input_layernorm);
    to.input_layernorm_bias = written(from.input_layernorm_bias);
    to.post_attention_layernorm = norm(from.post_attention_layernorm);
    to.post_attention_layernorm_bias = written(from.post_attention_layernorm_bias);
    to.q = normed_heads(reads_stream(from.q));
    to.k = normed_heads(reads_stream(from.k));
    to.v = heads(reads_stream(from.v));
    to.q_bias = normed_heads(from.q_bias);
    to.k_bias = normed_heads(from.k_bias);
    to.v_bias = heads(from.v_bias);
    to.q_norm = from.q_norm;
    to.k_norm = from.k_norm;
    to.o = written(reads_stream(from.o));
    to.o_bias = written(from.o_bias);
    if (from.cross_q.defined()) {
      to.cross_layernorm = norm(from.cross_layernorm);
      to.cross_q = heads(reads_stream(from.cross_q));
      to.cross_k = heads(reads_stream(from.cross_k));
      to.cross_v = heads(reads_stream(from.cross_v));
      to.cross_o = written(reads_stream(from.cross_o));
    }
    if (from.gate.defined()) to.gate = inner(reads_stream(from.gate));
    to.up = inner(reads_stream(from.up));
    to.up_bias = inner(from.up_bias);
    to.down = written(reads(from.down, growth_.inner));
    to.down_bias = written(from.down_bias);
    return to;
  }

  // Widens the layers, and appends copies of the last one that add nothing to the stream.
  std::vector<TransformerLayer> layers(const std::vector<TransformerLayer>& from) const {
    std::vector<TransformerLayer> to;
    for (const TransformerLayer& one : from) to.push_back(layer(one));
    for (std::int64_t i = 0; i < growth_.layers && !from.empty(); ++i) {
      TransformerLayer idle = layer(from.back());
      for (at::Tensor* tensor : {&idle.o, &idle.o_bias, &idle.cross_o, &idle.down, &idle.down_bias})
        if (tensor->defined()) *tensor = at::zeros_like(*tensor);
      to.push_back(std::move(idle));
    }
    return to;
  }

  // Heads read the normed stream, and add to it what the vocabulary's projection reads.
  PredictionHeads prediction(const PredictionHeads& from) const {
    const double scale = tied_ && !pads_ ? copies_ : 1;
    const std::int64_t filters = growth_.copies * from.hidden.size(0);
    PredictionHeads to{from.count,
                       repeated(reads_stream(from.hidden * scale), 0, filters),
                       repeated(from.hidden_bias, 0, filters),
                       {},
                       {}};
    std::vector<at::Tensor> weights, biases;
    for (const at::Tensor& weight : from.project.chunk(from.count, 0))
      weights.push_back(written(reads_stream(weight / scale)));
    for (const at::Tensor& bias : from.project_bias.chunk(from.count, 0))
      biases.push_back(written(bias / scale));
    to.project = at::cat(weights);
    to.project_bias = at::cat(biases);
    return to;
  }

 private:
  Growth growth_;
  bool pads_, tied_, head_norm_;
  double root_, copies_;
};

std::int64_t heads_parameters(const std::string& folder, const TransformerConfig& config,
                              std::int64_t copies) {
  if (!PredictionHeads::stored(folder)) return 0;
  const PredictionHeads heads =
      PredictionHeads::load(folder, config.hidden_size, weights_digest(folder));
  const std::int64_t filters = heads.hidden.size(0), rows = heads.count * config.hidden_size;
  return copies * (copies * filters * (config.hidden_size + rows) + filters + rows);
}

void write_transformer(const std::string& folder, const Growth& growth, const std::string& out) {
  const Transformer from = Transformer::load(folder);
  const TransformerGrowth grow(from.config, growth);
  TransformerConfig none = grown_config(from.config, growth);
  none.num_hidden_layers = none.num_encoder_layers = none.vocab_size = 0;
  Transformer to(none);
  to.config = grown_config(from.config, growth);
  to.embed_tokens = grow.written(from.embed_tokens, 1);
  to.embed_positions = grow.written(from.embed_positions, 1);
  to.lm_head = from.config.tie_word_embeddings ? to.embed_tokens : grow.reads_stream(from.lm_head);
  to.norm = grow.last_norm(from.norm);
  to.norm_bias = from.norm_bias.defined() ? grow.last_norm(from.norm_bias) : from.norm_bias;
  to.encoder_norm = grow.norm(from.encoder_norm);
  to.layers = grow.layers(from.layers);
  to.encoder = grow.layers(from.encoder);
  to.save(out, stored_as_bf16(weight_files(folder).front()));
  if (!PredictionHeads::stored(folder)) return;
  const PredictionHeads heads =
      PredictionHeads::load(folder, from.config.hidden_size, weights_digest(folder));
  grow.prediction(heads).save(out, stored_as_bf16(folder + "/heads.safetensors"),
                              weights_digest(out));
}

}  // namespace

Widening widen_transformer(const std::string& folder) {
  TransformerConfig config = TransformerConfig::read(folder);
  if (config.experts.count > 0)
    throw DataError(
        "{}/config.json: has a mixture of experts, of which a row computes a part; only dense "
        "networks are widened",
        folder);
  if (config.conditioned())
    throw DataError("{}/config.json: has layers that read a noise level, which are not widened",
                    folder);
  // A head that was left out means the embedding.
  config.tie_word_embeddings = Transformer::load(folder, std::nullopt).config.tie_word_embeddings;
  const auto count = [config, folder](const Growth& growth) {
    std::int64_t parameters = heads_parameters(folder, config, growth.copies);
    for (const auto& [name, tensor] :
         Transformer::hollow(grown_config(config, growth)).named_parameters())
      parameters += tensor.numel();
    return parameters;
  };
  return {.parameters = count({1, 0, config.intermediate_size}),
          .inner = config.intermediate_size,
          .inner_is_free = true,
          .count = count,
          .exact = [config](const Growth& growth) { return pads(config, growth.copies); },
          .write = [folder](const Growth& growth,
                            const std::string& out) { write_transformer(folder, growth, out); }};
}

}  // namespace draftlab
