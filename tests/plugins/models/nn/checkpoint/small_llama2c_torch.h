// Writes a Llama as a file of llama2.c, for tests.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "plugins/models/nn/transformer/transformer_torch.h"

namespace draftlab {

inline std::string raw_numbers(const at::Tensor& tensor) {
  const at::Tensor own = tensor.contiguous();
  return {static_cast<const char*>(own.data_ptr()), static_cast<std::size_t>(own.nbytes())};
}

// Row i of a head's first half and row i of its second become neighbours.
inline std::string rows_in_pairs(const at::Tensor& tensor, std::int64_t head) {
  std::string bytes;
  for (std::int64_t first = 0; first < tensor.size(0); first += head) {
    for (std::int64_t i = 0; i < head; ++i)
      bytes += raw_numbers(tensor[first + i / 2 + (i % 2) * head / 2]);
  }
  return bytes;
}

inline std::string llama2c_bytes(const Transformer& net) {
  const TransformerConfig& config = net.config;
  const bool tied = config.tie_word_embeddings;
  std::string bytes;
  for (const std::int64_t number :
       {config.hidden_size, config.intermediate_size, config.num_hidden_layers,
        config.num_attention_heads, config.num_key_value_heads,
        tied ? config.vocab_size : -config.vocab_size, config.max_position_embeddings}) {
    const auto small = static_cast<std::int32_t>(number);
    bytes.append(reinterpret_cast<const char*>(&small), 4);
  }
  using L = TransformerLayer;
  bytes += raw_numbers(net.embed_tokens);
  for (const auto part : {&L::input_layernorm, &L::q, &L::k, &L::v, &L::o,
                          &L::post_attention_layernorm, &L::gate, &L::down, &L::up}) {
    for (const TransformerLayer& layer : net.layers)
      bytes += part == &L::q || part == &L::k ? rows_in_pairs(layer.*part, config.head_dim)
                                              : raw_numbers(layer.*part);
  }
  bytes += raw_numbers(net.norm);
  bytes += std::string(config.max_position_embeddings * config.head_dim * 4, '\0');
  if (!tied) bytes += raw_numbers(net.lm_head);
  return bytes;
}

}  // namespace draftlab
