#include "plugins/models/toy/recurrent_net.h"

#include <cmath>

#include "core/prob/chance.h"

namespace draftlab {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

RecurrentNet::RecurrentNet(RecurrentKind kind, int vocabulary, std::uint64_t seed) : kind_(kind) {
  SampledChance chance(seed);
  std::int32_t drawn = 0;
  const auto draw = [&] {
    return chance.normal({.sequence = static_cast<std::uint64_t>(kind),
                          .position = drawn++,
                          .purpose = Purpose::train});
  };
  for (std::vector<double>* const numbers : {&embedding_, &head_, &bias_}) {
    numbers->resize(static_cast<std::size_t>(vocabulary));
    for (double& number : *numbers) number = draw();
  }
  for (auto& layer : layers_)
    for (double& weight : layer) weight = draw();
}

std::int64_t RecurrentNet::parameters() const {
  return static_cast<std::int64_t>(3 * embedding_.size() +
                                   (kind_ == RecurrentKind::delta ? 18 : 9));
}

RecurrentNet::Step RecurrentNet::read(Token token, const float* before, float* after,
                                      const double* first) const {
  return kind_ == RecurrentKind::delta ? read_delta(token, before, after, first)
                                       : read_convolution(token, before, after);
}

RecurrentNet::Step RecurrentNet::read_delta(Token token, const float* before, float* after,
                                            const double* first) const {
  Step step{.out = embedding_[token]};
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    const auto& [shift, of_r, of_k, of_v, of_decay, of_rate, mix, decay_bias, of_out] =
        layers_[layer];
    const double row = step.out / std::sqrt(1 + step.out * step.out);
    const double mixed = row + (before[2 * layer] - row) * sigmoid(shift);
    const double key = std::tanh(of_k * mixed);
    double value = of_v * mixed;
    if (layer == 0)
      step.first = value;
    else
      value += ((first ? *first : step.first) - value) * sigmoid(mix);
    const double decay = std::exp(-0.606531 * sigmoid(decay_bias + of_decay * mixed));
    const double rate = sigmoid(of_rate * mixed);
    const double memory = before[2 * layer + 1] * (decay - rate * key * key) + value * key;
    after[2 * layer] = static_cast<float>(row);
    after[2 * layer + 1] = static_cast<float>(memory);
    step.out += 2 * of_out * (of_r * mixed) * memory + of_out * value;
  }
  return step;
}

RecurrentNet::Step RecurrentNet::read_convolution(Token token, const float* before,
                                                  float* after) const {
  const auto& [w0, w1, w2, w3, of_time, time_bias, of_b, of_c, skip] = layers_[0];
  const double input = embedding_[token];
  const double sum = w0 * before[0] + w1 * before[1] + w2 * before[2] + w3 * input;
  const double unit = sum * sigmoid(sum);
  const double time = std::log1p(std::exp(of_time * unit + time_bias));
  const double memory = before[3] * std::exp(-time) + time * of_b * unit;
  const float kept[] = {before[1], before[2]};
  after[0] = kept[0];
  after[1] = kept[1];
  after[2] = static_cast<float>(input);
  after[3] = static_cast<float>(memory);
  return {.first = 0, .out = of_c * memory + skip * unit};
}

void RecurrentNet::logits(const Step& step, float* logits) const {
  for (std::size_t token = 0; token < head_.size(); ++token)
    logits[token] = static_cast<float>(head_[token] * step.out + bias_[token] / 2);
}

}  // namespace draftlab
