#include "plugins/models/mar/mar_rows_torch.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "plugins/models/nn/kernels/rows/lanes.h"

namespace draftlab {
namespace {

// A stack of MAR's blocks is GPT-2's with another GELU and neither vocabulary nor positions.
TransformerConfig config_of(const MarConfig& mar, std::int64_t d, std::int64_t depth,
                            std::int64_t heads) {
  TransformerConfig config;
  config.model_type = "gpt2";
  config.exact_gelu = config.attention_bias = true;
  config.hidden_size = d;
  config.num_hidden_layers = depth;
  config.num_attention_heads = config.num_key_value_heads = heads;
  config.head_dim = d / heads;
  config.intermediate_size = mar.mlp_ratio * d;
  config.rms_norm_eps = mar.norm_eps;
  config.max_position_embeddings = 0;
  return config;
}

// Returns the network of a stack of blocks and the norm behind them.
Transformer network_of(const TransformerConfig& config, const std::vector<MarBlock>& blocks,
                       const LayerNorm& norm) {
  const at::NoGradGuard no_grad;
  TransformerConfig none = config;
  none.num_hidden_layers = 0;
  Transformer net(none);
  net.config = config;
  net.embed_tokens = net.embed_positions = net.lm_head = at::Tensor();
  net.norm = norm.weight;
  net.norm_bias = norm.bias;
  for (const MarBlock& block : blocks) {
    const std::vector<at::Tensor> qkv = block.qkv.weight.chunk(3, 0),
                                  biases = block.qkv.bias.chunk(3, 0);
    TransformerLayer layer;
    layer.input_layernorm = block.norm1.weight;
    layer.input_layernorm_bias = block.norm1.bias;
    layer.q = qkv[0], layer.k = qkv[1], layer.v = qkv[2];
    layer.q_bias = biases[0], layer.k_bias = biases[1], layer.v_bias = biases[2];
    layer.o = block.proj.weight, layer.o_bias = block.proj.bias;
    layer.post_attention_layernorm = block.norm2.weight;
    layer.post_attention_layernorm_bias = block.norm2.bias;
    layer.up = block.fc1.weight, layer.up_bias = block.fc1.bias;
    layer.down = block.fc2.weight, layer.down_bias = block.fc2.bias;
    net.layers.push_back(layer);
  }
  return net;
}

void add(float* x, const float* y, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) x[i] += y[i];
}

// Rows whose inputs are vectors instead of tokens.
struct GivenRows {
  GivenRows(std::int64_t count, std::int64_t width) : width(width), inputs(count * width) {}
  // Returns where the input of the row goes.
  float* add(MemoryRow row) {
    row.layers.state = inputs.data() + static_cast<std::int64_t>(rows.size()) * width;
    rows.push_back(std::move(row));
    return rows.back().layers.state;
  }
  std::int64_t width;
  std::vector<float> inputs;
  std::vector<MemoryRow> rows;
};

}  // namespace

MarRows::MarRows(const Mar& net, Precision precision, std::optional<at::Device> tensors)
    : config_(net.config),
      d_(net.fake_latent.size(1)),
      wide_(net.config.decoder_embed_dim),
      classes_(floats(net.class_emb)),
      z_proj_(net.z_proj.weight, net.z_proj.bias, precision, tensors),
      norm_(floats(net.z_proj_ln.weight)),
      norm_bias_(floats(net.z_proj_ln.bias)),
      mask_(floats(net.mask_token)),
      encoder_positions_(floats(net.encoder_positions)),
      decoder_positions_(floats(net.decoder_positions)),
      diffusion_positions_(floats(net.diffusion_positions)) {
  const std::vector<float> none = floats(net.fake_latent);
  classes_.insert(classes_.end(), none.begin(), none.end());
  decoder_config_ = config_of(config_, wide_, config_.decoder_depth, config_.decoder_num_heads);
  decoder_.emplace(network_of(decoder_config_, net.decoder, net.decoder_norm), precision,
                   PredictionHeads{}, tensors);
  if (config_.causal) return;
  encoder_config_ = config_of(config_, d_, config_.encoder_depth, config_.encoder_num_heads);
  encoder_.emplace(network_of(encoder_config_, net.encoder, net.encoder_norm), precision,
                   PredictionHeads{}, tensors);
  decoder_embed_ =
      PlacedLinear(net.decoder_embed.weight, net.decoder_embed.bias, precision, tensors);
  encoder_memories_.emplace(encoder_config_);
  decoder_memories_.emplace(decoder_config_);
}

std::vector<float> MarRows::projected(const std::vector<const Eigen::VectorXd*>& values) const {
  const std::int64_t dimension = config_.dimension(),
                     rows = static_cast<std::int64_t>(values.size());
  std::vector<float> x(rows * dimension), out(rows * d_);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < dimension; ++j)
      x[i * dimension + j] = static_cast<float>((*values[i])[j]);
  z_proj_.apply(x.data(), rows, out.data());
  return out;
}

void MarRows::embed(const float* embedding, const float* position, float* to) const {
  std::copy_n(embedding, d_, to);
  add(to, position, d_);
  layer_norm({d_, config_.norm_eps, norm_.data(), norm_bias_.data()}, to, to);
}

void MarRows::add_place(float* condition, std::int32_t place) const {
  add(condition, diffusion_positions_.data() + place * wide_, wide_);
}

std::vector<float> MarRows::encoded(std::span<const MarState> states) {
  const std::int64_t buffers = config_.buffer_size;
  std::vector<const Eigen::VectorXd*> values;
  for (const MarState& state : states)
    for (const auto& visible : state.visible) values.push_back(visible.value);
  const std::vector<float> tokens = projected(values);
  const auto count = static_cast<std::int64_t>(values.size() + states.size() * buffers);

  GivenRows given(count, d_);
  const float *token = tokens.data(), *positions = encoder_positions_.data();
  encoder_memories_->begin();
  for (const MarState& state : states) {
    const std::int64_t seen = buffers + static_cast<std::int64_t>(state.visible.size());
    RowMemory& memory = encoder_memories_->take(seen);
    auto next = [&, slot = std::int64_t{0}]() mutable {
      return given.add({.memory = &memory, .slot = slot++, .limit = seen, .asked = true});
    };
    for (std::int64_t slot = 0; slot < buffers; ++slot)
      embed(class_embedding(state.label), positions + slot * d_, next());
    for (const MarState::Visible& visible : state.visible) {
      embed(token, positions + (buffers + visible.place) * d_, next());
      token += d_;
    }
  }
  const at::Tensor outputs = encoder_->forward(given.rows);
  std::vector<float> embedded(count * wide_);
  decoder_embed_.apply(outputs.data_ptr<float>(), count, embedded.data());
  return embedded;
}

at::Tensor MarRows::decoded(std::span<const MarState> states, const std::vector<float>& encoded) {
  const std::int64_t buffers = config_.buffer_size, all = buffers + config_.tokens();
  GivenRows given(static_cast<std::int64_t>(states.size()) * all, wide_);
  // The next encoded row.
  const float* row = encoded.data();
  const auto take = [&] {
    const float* const taken = row;
    row += wide_;
    return taken;
  };
  decoder_memories_->begin();
  for (const MarState& state : states) {
    RowMemory& memory = decoder_memories_->take(all);
    // What stands in a slot: an encoded row, or the mask.
    std::vector<const float*> inputs(all, mask_.data());
    for (std::int64_t slot = 0; slot < buffers; ++slot) inputs[slot] = take();
    for (const MarState::Visible& visible : state.visible) inputs[buffers + visible.place] = take();
    for (std::int64_t slot = 0; slot < all; ++slot) {
      const bool asked =
          std::find(state.asked.begin(), state.asked.end(), slot - buffers) != state.asked.end();
      float* const to = given.add({.memory = &memory, .slot = slot, .limit = all, .asked = asked});
      std::copy_n(inputs[slot], wide_, to);
      add(to, decoder_positions_.data() + slot * wide_, wide_);
    }
  }
  return decoder_->forward(given.rows);
}

std::vector<float> MarRows::conditions(std::span<const MarState> states,
                                       std::span<std::int64_t* const> positions) {
  for (std::size_t s = 0; s < states.size(); ++s)
    *positions[s] += 2 * config_.buffer_size + config_.tokens() +
                     static_cast<std::int64_t>(states[s].visible.size());
  const at::Tensor outputs = decoded(states, encoded(states));
  std::vector<float> out;
  const float* line = outputs.data_ptr<float>();
  for (const MarState& state : states) {
    std::vector<std::int32_t> ascending = state.asked;
    std::sort(ascending.begin(), ascending.end());
    for (const std::int32_t place : state.asked) {
      const auto at =
          std::lower_bound(ascending.begin(), ascending.end(), place) - ascending.begin();
      out.insert(out.end(), line + at * wide_, line + (at + 1) * wide_);
      add_place(out.data() + out.size() - wide_, place);
    }
    line += static_cast<std::int64_t>(ascending.size()) * wide_;
  }
  return out;
}

std::vector<float> MarRows::conditions(std::span<const MarCausalRow> wanted) {
  std::vector<const Eigen::VectorXd*> values;
  for (const MarCausalRow& row : wanted)
    if (row.value) values.push_back(row.value);
  const std::vector<float> tokens = projected(values);
  const float* token = tokens.data();
  GivenRows given(static_cast<std::int64_t>(wanted.size()), wide_);
  for (const MarCausalRow& row : wanted) {
    float* const to = given.add({.memory = row.memory,
                                 .slot = row.slot,
                                 .limit = row.limit,
                                 .extras = row.extras,
                                 .asked = row.ask != MarCausalRow::kUnasked});
    // The position is where the token would stand in raster order.
    const std::int64_t slot = row.value ? config_.buffer_size + row.place : row.slot;
    embed(row.value ? token : class_embedding(row.label), decoder_positions_.data() + slot * d_,
          to);
    if (row.value) token += d_;
  }
  const at::Tensor outputs = decoder_->forward(given.rows);
  std::vector<float> out(outputs.data_ptr<float>(), outputs.data_ptr<float>() + outputs.numel());
  std::int64_t line = 0;
  for (const MarCausalRow& row : wanted)
    if (row.ask != MarCausalRow::kUnasked) add_place(out.data() + line++ * wide_, row.place + 1);
  return out;
}

}  // namespace draftlab
