// Two recurrent networks whose state is four numbers, small enough for certificates to walk. Each
// has the part of a larger network in which taking a state back goes wrong.
//   - delta: two layers like those of RWKV-7. In a layer, number 2l of the state is the row before
//     (the token shift) and number 2l + 1 its memory, which decays, forgets along the key and adds
//     the value. The value of layer 1 is mixed with that of layer 0.
//   - convolution: one layer like that of Mamba-2. Numbers 0 to 2 are the last three inputs of a
//     convolution over four, and number 3 is the memory.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/prob/types.h"

namespace draftlab {

enum class RecurrentKind : std::uint8_t { delta, convolution };
constexpr std::array<std::string_view, 2> words(RecurrentKind) { return {"delta", "convolution"}; }

inline constexpr std::size_t kToyState = 4;

class RecurrentNet {
 public:
  // The weights are normal, and a function of the seed.
  RecurrentNet(RecurrentKind kind, int vocabulary, std::uint64_t seed);

  // What a token did: the value of layer 0, and what the logits are made of.
  struct Step {
    double first = 0, out = 0;
  };
  // Reads a token: writes the state after it, which may be the state before it. Layer 1 mixes in
  // the value of layer 0, or `first` where that is given.
  Step read(Token token, const float* before, float* after, const double* first = nullptr) const;
  // Writes the logits of the next token.
  void logits(const Step& step, float* logits) const;
  std::int64_t parameters() const;

 private:
  Step read_delta(Token token, const float* before, float* after, const double* first) const;
  Step read_convolution(Token token, const float* before, float* after) const;

  RecurrentKind kind_;
  // One number a token: its embedding, and its weight and bias in the logits.
  std::vector<double> embedding_, head_, bias_;
  // The weights of each layer, in the order in which they are used.
  std::array<std::array<double, 9>, 2> layers_;
};

}  // namespace draftlab
