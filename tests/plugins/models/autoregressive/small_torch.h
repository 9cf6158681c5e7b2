// What the tests of autoregressive models share: small random networks, and questions about them.
#pragma once

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/prob/chance.h"
#include "plugins/models/autoregressive/autoregressive.h"
#include "plugins/models/nn/transformer/transformer_torch.h"
#include "tests/core/model/ask.h"
#include "tests/scratch.h"

namespace draftlab::testing {

inline std::unique_ptr<Model> make(const std::filesystem::path& checkpoint,
                                   AutoregressiveOptions options = {},
                                   Precision dtype = Precision::f32) {
  options.checkpoint = checkpoint.string();
  std::unique_ptr<Model> model(draftlab_make_autoregressive(&options));
  model->load({Device::cpu, dtype, 1});
  return model;
}

inline Canvas prompted(int length, const std::vector<Token>& prompt) {
  std::vector<std::pair<std::int32_t, Token>> given;
  for (const Token token : prompt)
    given.emplace_back(static_cast<std::int32_t>(given.size()), token);
  return {length, given};
}

// The tokens drafted one after another from position `first` on; each node, and the root, is asked
// the next `ahead` positions that the canvas has.
inline Question path(std::int32_t first, const std::vector<Token>& tokens, int length,
                     int ahead = 1, Kind kind = Kind::verify) {
  Question question{.kind = kind, .view = View::causal, .nodes = {}, .asks = {}};
  for (std::size_t i = 0; i <= tokens.size(); ++i) {
    const auto next = first + static_cast<std::int32_t>(i);
    Ask asked{static_cast<int>(i) - 1, {}};
    for (int h = 0; h < ahead && next + h < length; ++h) asked.positions.push_back(next + h);
    if (!asked.positions.empty()) question.asks.push_back(asked);
    if (i < tokens.size()) question.nodes.push_back({static_cast<int>(i) - 1, next, tokens[i]});
  }
  return question;
}

inline bool same_bits(const Distribution& a, const Distribution& b) {
  return (a.probabilities() == b.probabilities()).all();
}
inline bool same_bits(const Answer& a, const Answer& b, const Question& question) {
  for (const Ask& one : question.asks)
    for (const std::int32_t position : one.positions)
      if (!same_bits(a.at(one.node, position), b.at(one.node, position))) return false;
  return true;
}

// Largest difference of log probabilities from a row of logits.
inline double distance(const Distribution& distribution, const at::Tensor& logits) {
  const at::Tensor expected = logits.log_softmax(-1).contiguous();
  double largest = 0;
  for (Token t = 0; t < distribution.size(); ++t)
    largest = std::max(largest,
                       std::abs(distribution.log_probability(t) - expected.data_ptr<float>()[t]));
  return largest;
}

// A published family, or "encoder", or "positions": an encoder, and learned positions beside the
// rotation.
inline TransformerConfig tiny(const std::string& family) {
  TransformerConfig config;
  const bool positions = family == "positions", encoder = family == "encoder" || positions;
  config.model_type = encoder ? "qwen3" : family;
  config.position_vectors = positions;
  config.vocab_size = 19;
  config.hidden_size = 24;
  config.num_hidden_layers = 3;
  config.num_attention_heads = 4;
  config.num_key_value_heads = family == "gpt2" ? 4 : 2;
  config.head_dim = 6;
  config.intermediate_size = 20;
  config.max_position_embeddings = 64;
  config.eos_token_id = {3};
  config.tie_word_embeddings = config.attention_bias = family == "gpt2";
  if (encoder) config.num_encoder_layers = 2;
  return config;
}

// Random weights, biases and norms too.
inline Transformer random_net(const std::string& family, std::uint64_t seed) {
  const at::NoGradGuard no_grad;
  Transformer net = Transformer::random(tiny(family), seed, 0.3);
  Site site{.sequence = seed, .position = 0, .purpose = Purpose::train};
  for (auto& [name, tensor] : net.named_parameters()) {
    if (tensor.dim() > 1) continue;
    for (std::int64_t i = 0; i < tensor.numel(); ++i, ++site.position)
      tensor.data_ptr<float>()[i] += static_cast<float>(SampledChance::uniform(seed, site) - 0.5);
  }
  return net;
}

}  // namespace draftlab::testing
