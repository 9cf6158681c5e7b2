#include "plugins/models/rwkv/rwkv_net.h"

#include <algorithm>
#include <cmath>

#include "plugins/models/nn/kernels/rows/lanes.h"

namespace draftlab {
namespace {

// As many rows go through the layers together; more would not fit the cache.
constexpr std::size_t kMostRows = 64;
constexpr double kEpsilon = 1e-5;
// The decay of version 7 is e^(-e^(-1/2) sigmoid(w)).
constexpr float kSlowest = -0.606531F;

DRAFTLAB_INLINE float sigmoid(float x) { return 1 / (1 + exponential(-x)); }
DRAFTLAB_INLINE float tangent(float x) { return 2 * sigmoid(2 * x) - 1; }

// Calls loop(i) for i in [0, count), compiled for the widest instructions. No call reads what
// another writes. (Nor does a head's loop below: a state may be taken on in its place.)
template <class Loop>
void for_each(std::int64_t count, const Loop& loop) {
  on_widest([&] {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) loop(i);
  });
}

// Returns a norm over rows of d numbers.
DRAFTLAB_INLINE NormView view(const RwkvNorm& norm, std::int64_t d) {
  return {d, kEpsilon, norm.weight.data(), norm.bias.data()};
}

}  // namespace

RwkvNet::RwkvNet(RwkvWeights weights, double head_epsilon)
    : weights_(std::move(weights)), head_epsilon_(head_epsilon) {}

std::size_t RwkvNet::state_size() const {
  return weights_.layers.size() *
         static_cast<std::size_t>(weights_.width * (2 + weights_.head_size()));
}

void RwkvNet::run(std::span<const RecurrentRow> rows) {
  for (std::size_t from = 0; from < rows.size(); from += kMostRows)
    run_piece(rows.subspan(from, std::min(kMostRows, rows.size() - from)));
}

void RwkvNet::run_piece(std::span<const RecurrentRow> rows) {
  const std::int64_t d = weights_.width, many = static_cast<std::int64_t>(rows.size());
  for (Rows* const room : {&x_, &normed_, &shifted_, &mixed_, &r_, &k_, &v_, &gate_, &decay_,
                           &rate_, &removed_, &first_, &out_})
    room->resize(rows.size() * static_cast<std::size_t>(d));
  inner_.resize(rows.size() * static_cast<std::size_t>(weights_.inner));
  for (std::int64_t i = 0; i < many; ++i)
    on_widest([&] {
      layer_norm(view(weights_.ln0, d), weights_.embedding.data() + rows[i].token * d,
                 x_.data() + i * d);
    });
  std::size_t state = 0;
  for (std::size_t i = 0; i < weights_.layers.size(); ++i) {
    const RwkvLayer& layer = weights_.layers[i];
    if (weights_.version == RwkvVersion::v7)
      attend_v7(layer, rows, state, i == 0);
    else
      attend_v5_2(layer, rows, state);
    feed_forward(layer, rows, state + static_cast<std::size_t>(d));
    state += static_cast<std::size_t>(d * (2 + weights_.head_size()));
  }
  write_logits(rows);
}

void RwkvNet::shift(const RwkvNorm& norm, std::span<const RecurrentRow> rows, std::size_t state) {
  const std::int64_t d = weights_.width;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    float* const row = normed_.data() + i * d;
    on_widest([&] { layer_norm(view(norm, d), x_.data() + i * d, row); });
    std::copy_n(rows[i].before + state, d, shifted_.data() + i * d);
    std::copy_n(row, d, rows[i].after + state);
  }
}

void RwkvNet::mix(const float* share, std::int64_t rows, bool of_row_before, Rows& out) const {
  const std::int64_t d = weights_.width;
  for (std::int64_t i = 0; i < rows; ++i) {
    const float *row = normed_.data() + i * d, *before = shifted_.data() + i * d;
    float* const to = out.data() + i * d;
    if (of_row_before)
      for_each(d, [&](std::int64_t j) { to[j] = row[j] + (before[j] - row[j]) * share[j]; });
    else
      for_each(d, [&](std::int64_t j) { to[j] = row[j] * share[j] + before[j] * (1 - share[j]); });
  }
}

void RwkvNet::attend_v5_2(const RwkvLayer& layer, std::span<const RecurrentRow> rows,
                          std::size_t state) {
  const std::int64_t d = weights_.width, many = static_cast<std::int64_t>(rows.size());
  shift(layer.ln1, rows, state);
  const auto project = [&](const std::vector<float>& share, const RwkvProduct& product, Rows& out) {
    mix(share.data(), many, false, mixed_);
    product.apply(mixed_.data(), many, out.data());
  };
  project(layer.mix_r, layer.receptance, r_);
  project(layer.mix_k, layer.key, k_);
  project(layer.mix_v, layer.value, v_);
  project(layer.mix_g, layer.gate, gate_);
  for_each(many * d, [&](std::int64_t i) { gate_[i] = silu(gate_[i]); });
  read_heads(layer, rows, state);
}

void RwkvNet::read_heads(const RwkvLayer& layer, std::span<const RecurrentRow> rows,
                         std::size_t state) {
  const std::int64_t d = weights_.width, n = weights_.head_size(),
                     many = static_cast<std::int64_t>(rows.size());
  for (std::int64_t i = 0; i < many; ++i)
    for (std::int64_t head = 0; head < weights_.heads; ++head) {
      const std::size_t at = state + static_cast<std::size_t>(2 * d + head * n * n);
      const HeadState own{i, head, rows[i].before + at, rows[i].after + at};
      if (weights_.version == RwkvVersion::v7)
        head_v7(own);
      else
        head_v5_2(layer, own);
    }
  add_output(layer, many);
}

void RwkvNet::head_v5_2(const RwkvLayer& layer, const HeadState& state) {
  const std::int64_t n = weights_.head_size(), from = state.head * n,
                     at = state.row * weights_.width + from;
  const float* const before = state.before;
  float* const after = state.after;
  const float *r = r_.data() + at, *k = k_.data() + at, *v = v_.data() + at;
  const float *decay = layer.decay.data() + from, *bonus = layer.bonus.data() + from;
  float* const out = out_.data() + at;
  on_widest([&] {
    for (std::int64_t i = 0; i < n; ++i) out[i] = 0;
    for (std::int64_t j = 0; j < n; ++j)
#pragma GCC ivdep
      for (std::int64_t i = 0; i < n; ++i) {
        const float outer = k[j] * v[i], old = before[j * n + i];
        out[i] += r[j] * (bonus[j] * outer + old);
        after[j * n + i] = outer + decay[j] * old;
      }
  });
}

void RwkvNet::attend_v7(const RwkvLayer& layer, std::span<const RecurrentRow> rows,
                        std::size_t state, bool is_first) {
  const std::int64_t d = weights_.width, many = static_cast<std::int64_t>(rows.size());
  shift(layer.ln1, rows, state);
  const auto mixed = [&](int which) {
    mix(layer.mixes.data() + which * d, many, true, mixed_);
    return mixed_.data();
  };
  // Goes through few numbers, with a curve between the two products.
  const auto through = [&](int which, const RwkvProduct& one, const RwkvProduct& two, auto curve,
                           Rows& out) {
    low_.resize(static_cast<std::size_t>(many * one.out()));
    one.apply(mixed(which), many, low_.data());
    for_each(many * one.out(), [&](std::int64_t i) { low_[i] = curve(low_[i]); });
    two.apply(low_.data(), many, out.data());
  };
  const auto straight = [](float x) { return x; };
  layer.receptance.apply(mixed(0), many, r_.data());
  layer.key.apply(mixed(2), many, k_.data());
  layer.value.apply(mixed(3), many, v_.data());
  through(
      1, layer.w1, layer.w2, [](float x) { return tangent(x); }, decay_);
  through(4, layer.a1, layer.a2, straight, rate_);
  through(
      5, layer.g1, layer.g2, [](float x) { return sigmoid(x); }, gate_);
  if (is_first)
    first_ = v_;
  else
    through(3, layer.v1, layer.v2, straight, out_);
  for (std::int64_t i = 0; i < many; ++i)
    for_each(d, [&, at = i * d](std::int64_t j) {
      const std::int64_t to = at + j;
      decay_[to] = exponential(kSlowest * sigmoid(layer.w0[j] + decay_[to]));
      rate_[to] = sigmoid(layer.a0[j] + rate_[to]);
      if (!is_first) v_[to] += (first_[to] - v_[to]) * sigmoid(layer.v0[j] + out_[to]);
      removed_[to] = k_[to] * layer.k_k[j];
      k_[to] *= 1 + (rate_[to] - 1) * layer.k_a[j];
    });
  read_heads(layer, rows, state);
}

void RwkvNet::head_v7(const HeadState& state) {
  const std::int64_t n = weights_.head_size(), at = state.row * weights_.width + state.head * n;
  const float* const before = state.before;
  float* const after = state.after;
  const float *r = r_.data() + at, *k = k_.data() + at, *v = v_.data() + at;
  const float *decay = decay_.data() + at, *rate = rate_.data() + at;
  float *const removed = removed_.data() + at, *const out = out_.data() + at;
  // What of each value the state has along the removed key.
  float* const held = mixed_.data() + at;
  on_widest([&] {
    const float square = lane_sum(n, [&](std::int64_t j) { return removed[j] * removed[j]; });
    const float inverse = 1 / std::max(std::sqrt(square), 1e-12F);
    for (std::int64_t i = 0; i < n; ++i) removed[i] *= inverse, held[i] = 0, out[i] = 0;
    for (std::int64_t j = 0; j < n; ++j)
#pragma GCC ivdep
      for (std::int64_t i = 0; i < n; ++i) held[i] += before[j * n + i] * removed[j];
    for (std::int64_t j = 0; j < n; ++j) {
      const float back = removed[j] * rate[j];
#pragma GCC ivdep
      for (std::int64_t i = 0; i < n; ++i) {
        const float now = before[j * n + i] * decay[j] - held[i] * back + v[i] * k[j];
        after[j * n + i] = now;
        out[i] += now * r[j];
      }
    }
  });
}

void RwkvNet::add_output(const RwkvLayer& layer, std::int64_t rows) {
  const std::int64_t d = weights_.width, n = weights_.head_size();
  const bool seven = weights_.version == RwkvVersion::v7;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t from = 0; from < d; from += n)
      on_widest([&, at = row * d + from] {
        float* const out = out_.data() + at;
        layer_norm(
            {n, head_epsilon_, layer.ln_x.weight.data() + from, layer.ln_x.bias.data() + from}, out,
            out);
        const float along = !seven ? 0 : lane_sum(n, [&](std::int64_t j) {
          return r_[at + j] * k_[at + j] * layer.r_k[from + j];
        });
        for (std::int64_t i = 0; i < n; ++i) out[i] = (out[i] + along * v_[at + i]) * gate_[at + i];
      });
  layer.output.apply(out_.data(), rows, mixed_.data());
  for_each(rows * d, [&](std::int64_t i) { x_[i] += mixed_[i]; });
}

void RwkvNet::feed_forward(const RwkvLayer& layer, std::span<const RecurrentRow> rows,
                           std::size_t state) {
  const std::int64_t d = weights_.width, many = static_cast<std::int64_t>(rows.size());
  const bool seven = weights_.version == RwkvVersion::v7;
  shift(layer.ln2, rows, state);
  mix(seven ? layer.ffn_x_k.data() : layer.ffn_mix_k.data(), many, seven, mixed_);
  layer.ffn_key.apply(mixed_.data(), many, inner_.data());
  for_each(many * weights_.inner, [&](std::int64_t i) {
    const float positive = std::max(inner_[i], 0.0F);
    inner_[i] = positive * positive;
  });
  layer.ffn_value.apply(inner_.data(), many, out_.data());
  if (seven) {
    for_each(many * d, [&](std::int64_t i) { x_[i] += out_[i]; });
    return;
  }
  mix(layer.ffn_mix_r.data(), many, false, mixed_);
  layer.ffn_receptance.apply(mixed_.data(), many, r_.data());
  for_each(many * d, [&](std::int64_t i) { x_[i] += sigmoid(r_[i]) * out_[i]; });
}

void RwkvNet::write_logits(std::span<const RecurrentRow> rows) {
  const std::int64_t d = weights_.width;
  std::vector<float*> wanted;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].logits) continue;
    float* const to = mixed_.data() + static_cast<std::int64_t>(wanted.size()) * d;
    on_widest([&] { layer_norm(view(weights_.ln_out, d), x_.data() + i * d, to); });
    wanted.push_back(rows[i].logits);
  }
  // Accepted tokens that run again in a forward of their own ask nothing.
  if (wanted.empty()) return;
  Rows logits(wanted.size() * static_cast<std::size_t>(weights_.vocabulary));
  weights_.head.apply(mixed_.data(), static_cast<std::int64_t>(wanted.size()), logits.data());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    std::copy_n(logits.data() + i * weights_.vocabulary, weights_.vocabulary, wanted[i]);
}

}  // namespace draftlab
