// Layers that a noise level modulates (adaLN; Peebles and Xie, 2023). The level becomes a
// condition, and of this a linear map of each layer makes a shift and a scale of what each of its
// norms puts out, and a gate of what attention and the network add. modulation_rows_torch.h does it
// row by row.
#pragma once

#include <ATen/core/Tensor.h>

#include "plugins/models/nn/transformer/transformer_torch.h"

namespace draftlab {

// Maps noise levels [n] to conditions [n, c], f32; undefined levels to an undefined condition.
at::Tensor noise_condition(const NoiseEmbedding& embedding, const at::Tensor& noise);

// What one norm is modulated by, and what is added behind it. In a network without conditions all
// are undefined, and both functions return x.
struct Modulation {
  // Each has a row of numbers for each row of x, or one that all of them share.
  at::Tensor shift, scale, gate;
  at::Tensor normed(const at::Tensor& x) const;
  at::Tensor added(const at::Tensor& x) const;
};

struct LayerModulation {
  Modulation attention, network;
};

// What conditions [..., c] make of a layer, [..., d] each, and of the last norm, which has no gate.
LayerModulation layer_modulation(const Linear& map, const at::Tensor& condition);
Modulation last_modulation(const Linear& map, const at::Tensor& condition);

}  // namespace draftlab
