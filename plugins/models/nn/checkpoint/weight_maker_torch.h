// How a network gets its tensors: each is asked for once, by name and shape, from a function that
// makes it (zeros, random numbers, or a file's contents), and all are listed in that order.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace draftlab {

// The contents of a tensor before training.
enum class Start { zeros, ones, embedding, xavier };

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;
using MakeTensor = std::function<at::Tensor(const std::string& name,
                                            const std::vector<std::int64_t>& shape, Start start)>;

struct WeightMaker {
  const MakeTensor& make;
  // These handles share storage with the network's tensors.
  NamedTensors& made;

  at::Tensor operator()(const std::string& name, const std::vector<std::int64_t>& shape,
                        Start start) const {
    made.emplace_back(name, make(name, shape, start));
    return made.back().second;
  }
};

// Computes y = x W^T + b.
struct Linear {
  // The shapes are [out, in] and [out].
  at::Tensor weight, bias;

  struct Shape {
    std::int64_t in, out;
  };
  Linear() = default;
  Linear(const WeightMaker& make, const std::string& name, Shape shape, Start start = Start::xavier)
      : weight(make(name + ".weight", {shape.out, shape.in}, start)),
        bias(make(name + ".bias", {shape.out}, Start::zeros)) {}
  // The result is f32; with `bf16` the product's factors are bf16.
  at::Tensor operator()(const at::Tensor& x, bool bf16 = false) const;
};

struct LayerNorm {
  // The shapes are [d].
  at::Tensor weight, bias;

  LayerNorm() = default;
  LayerNorm(const WeightMaker& make, const std::string& name, std::int64_t d)
      : weight(make(name + ".weight", {d}, Start::ones)),
        bias(make(name + ".bias", {d}, Start::zeros)) {}
  at::Tensor operator()(const at::Tensor& x, double epsilon) const;
};

// Draws what a Start says: N(0, 0.02) for embeddings, and uniform numbers in +- sqrt(6 / (in +
// out)) for matrices.
MakeTensor random_weights(std::uint64_t seed);

}  // namespace draftlab
