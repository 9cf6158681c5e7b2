// How each family of models is widened. A residual stream becomes so many copies of itself, or
// itself and zeros; whatever reads the stream reads the first copy, and whatever writes it writes
// all. Heads and inner rows are repeated, and only the first ones are read. Powers of two alone
// scale a weight, so nothing is rounded.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>

namespace draftlab {

struct Growth {
  // Rows and heads are so many times as wide: a power of two.
  std::int64_t copies = 1;
  // Layers that change nothing, appended to each stack of layers.
  std::int64_t layers = 0;
  // The inner width of the feed-forward networks.
  std::int64_t inner = 0;
};

struct Widening {
  // The parameters of the original, and the inner width of its feed-forward networks.
  std::int64_t parameters = 0, inner = 0;
  // Whether the inner width may be any multiple of 16; otherwise it is as many times as wide.
  bool inner_is_free = true;
  // The parameters after this growth.
  std::function<std::int64_t(const Growth&)> count;
  // Whether a growth changes no bit of what a row computes.
  std::function<bool(const Growth&)> exact;
  // Writes weights and config.json.
  std::function<void(const Growth&, const std::string& out)> write;
};

// These read a checkpoint's config.json, and its weights when they write.
Widening widen_transformer(const std::string& folder);
Widening widen_xlnet(const std::string& folder);
Widening widen_mar(const std::string& folder);

// Appends zeros along `dim` up to `size`.
at::Tensor padded(const at::Tensor& tensor, std::int64_t dim, std::int64_t size);
// Repeats a tensor along `dim` until it has `size`, from the beginning again and again.
at::Tensor repeated(const at::Tensor& tensor, std::int64_t dim, std::int64_t size);
// Whether all weights of a file are bf16, and may be written so again.
bool stored_as_bf16(const std::string& file);

}  // namespace draftlab
