// The parts of a decoder layer that are no matrix product, each fused into one pass and
// differentiable, because training on a processor spends most of its time between products. Inputs
// and outputs of products are f32, or bf16 throughout.
#pragma once

#include <ATen/core/Tensor.h>

namespace draftlab {

// Computes x / sqrt(mean x^2 + epsilon) * weight over the last dimension, as `type`, or x alone
// where the weight is undefined. x and weight are f32.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double epsilon,
                    at::ScalarType type);

// Cosines and sines [n, R, dh / 2] f32 of the rows' angles, and what the norm of a head adds to its
// mean square.
struct Rotary {
  at::Tensor cosine, sine;
  double epsilon;
};

// Turns projected queries or keys [n, R, H dh] into heads [n, H, R, dh]: each head is normed
// (weight [dh] f32; not where it is undefined), then rotated (rotate-half: the halves of a head are
// rotated into one another), and multiplied by `factor`.
at::Tensor rotary_heads(const at::Tensor& x, const at::Tensor& weight, const Rotary& by,
                        double factor);

// Computes silu(gate) * up.
at::Tensor gated(const at::Tensor& gate, const at::Tensor& up);

// Computes softmax attention of queries [n, H, R, dh], which are scaled already, over keys and
// values [n, G, K, dh] of H / G heads each; the result is [n, R, H dh]. Row r of a canvas sees the
// keys [0, a) and [b, c), given as `seen` [n, R, 3] int32.
at::Tensor interval_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                              const at::Tensor& seen);

}  // namespace draftlab
