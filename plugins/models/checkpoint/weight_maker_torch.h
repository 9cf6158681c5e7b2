// How a network comes by its tensors: each is asked for once, by name and shape, from whoever makes
// them (zeros, random numbers, a file), and all are listed in that order.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace draftlab {

// What a tensor is before training.
enum class Start { zeros, ones, embedding, xavier };

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;
using MakeTensor = std::function<at::Tensor(const std::string& name,
                                            const std::vector<std::int64_t>& shape, Start start)>;

struct WeightMaker {
  const MakeTensor& make;
  NamedTensors& made;  // handles that share storage with the network's

  at::Tensor operator()(const std::string& name, const std::vector<std::int64_t>& shape,
                        Start start) const {
    made.emplace_back(name, make(name, shape, start));
    return made.back().second;
  }
};

// y = x W^T + b.
struct Linear {
  at::Tensor weight, bias;  // [out, in], [out]

  Linear() = default;
  Linear(const WeightMaker& make, const std::string& name, std::int64_t in, std::int64_t out,
         Start start = Start::xavier)
      : weight(make(name + ".weight", {out, in}, start)),
        bias(make(name + ".bias", {out}, Start::zeros)) {}
  at::Tensor operator()(const at::Tensor& x,
                        bool bf16 = false) const;  // f32; `bf16`: the product's factors are
};

struct LayerNorm {
  at::Tensor weight, bias;  // [d]

  LayerNorm() = default;
  LayerNorm(const WeightMaker& make, const std::string& name, std::int64_t d)
      : weight(make(name + ".weight", {d}, Start::ones)),
        bias(make(name + ".bias", {d}, Start::zeros)) {}
  at::Tensor operator()(const at::Tensor& x, double epsilon) const;
};

// Draws what a Start says: N(0, 0.02) for embeddings, uniform in +- sqrt(6 / (in + out)) for
// matrices.
MakeTensor random_weights(std::uint64_t seed);

}  // namespace draftlab
