#include "plugins/models/nn/transformer/expert_rows_torch.h"

#include <ATen/ops/cat.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace draftlab {
namespace {

// Returns the indices of the `count` largest of `values`; ties go to the lower index.
std::vector<std::int32_t> largest(const std::vector<float>& values, std::int64_t count) {
  std::vector<std::int32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + count, order.end(),
                    [&](std::int32_t a, std::int32_t b) {
                      return values[a] != values[b] ? values[a] > values[b] : a < b;
                    });
  order.resize(count);
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace

std::vector<ExpertChoice> choose_experts(const Experts& experts, const float* logits,
                                         const float* bias) {
  const std::int64_t size = experts.count / experts.groups;
  std::vector<float> scores(experts.count), preferred(experts.count), of_groups;
  for (std::int64_t e = 0; e < experts.count; ++e) {
    scores[e] = 1 / (1 + std::exp(-logits[e]));
    preferred[e] = scores[e] + bias[e];
  }
  for (std::int64_t group = 0; group < experts.groups; ++group) {
    std::vector<float> best(preferred.begin() + group * size,
                            preferred.begin() + (group + 1) * size);
    std::partial_sort(best.begin(), best.begin() + std::min<std::int64_t>(2, size), best.end(),
                      std::greater<>());
    of_groups.push_back(size > 1 ? best[0] + best[1] : best[0]);
  }
  std::vector<float> open(experts.count, -std::numeric_limits<float>::infinity());
  for (const std::int32_t group : largest(of_groups, experts.best_groups))
    std::copy_n(preferred.begin() + group * size, size, open.begin() + group * size);
  std::vector<ExpertChoice> chosen;
  float sum = 1e-20f;
  for (const std::int32_t e : largest(open, experts.chosen)) {
    chosen.push_back({e, scores[e]});
    sum += scores[e];
  }
  for (ExpertChoice& choice : chosen)
    choice.weight = choice.weight / sum * static_cast<float>(experts.scale);
  return chosen;
}

ExpertRows::ExpertRows(const Experts& experts, TransformerLayer& from, Precision precision)
    : experts_(experts), width_(from.router.size(1)) {
  router_ = RowLinear(from.router.detach(), {}, Precision::f32);
  const at::Tensor bias = from.router_bias.detach().to(at::kFloat).contiguous();
  bias_.assign(bias.data_ptr<float>(), bias.data_ptr<float>() + experts.count);
  for (FeedForward& expert : from.experts) {
    networks_.push_back({RowLinear(at::cat({expert.gate, expert.up}), {}, precision),
                         RowLinear(expert.down.detach(), {}, precision)});
    expert = {};
  }
}

void ExpertRows::add(const float* x, std::int64_t rows, float* y) const {
  const std::int64_t d = width_, inner = experts_.inner;
  std::vector<float> logits(rows * experts_.count);
  router_.apply(x, rows, logits.data());
  struct Routed {
    std::int64_t row;
    float weight;
  };
  std::vector<std::vector<Routed>> routed(experts_.count);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (const ExpertChoice& choice :
         choose_experts(experts_, logits.data() + row * experts_.count, bias_.data()))
      routed[choice.expert].push_back({row, choice.weight});
  }
  std::vector<float> some, wide, gated_rows, made;
  for (std::int64_t e = 0; e < experts_.count; ++e) {
    const auto count = static_cast<std::int64_t>(routed[e].size());
    if (count == 0) continue;
    some.resize(count * d), wide.resize(count * 2 * inner), gated_rows.resize(count * inner),
        made.resize(count * d);
    for (std::int64_t i = 0; i < count; ++i)
      std::copy_n(x + routed[e][i].row * d, d, some.data() + i * d);
    networks_[e].gate_up.apply(some.data(), count, wide.data());
    for (std::int64_t i = 0; i < count; ++i)
      gated(wide.data() + i * 2 * inner, wide.data() + (2 * i + 1) * inner, inner,
            gated_rows.data() + i * inner);
    networks_[e].down.apply(gated_rows.data(), count, made.data());
    for (std::int64_t i = 0; i < count; ++i) {
      float* const to = y + routed[e][i].row * d;
      for (std::int64_t j = 0; j < d; ++j) to[j] += routed[e][i].weight * made[i * d + j];
    }
  }
}

}  // namespace draftlab
