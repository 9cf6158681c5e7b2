#include "plugins/models/nn/transformer/transformer_rows_torch.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/base/error.h"
#include "plugins/models/nn/kernels/machine_torch.h"
#include "plugins/models/nn/kernels/rows/lanes.h"
#include "plugins/models/nn/kernels/share_work_torch.h"
#include "plugins/models/nn/kernels/softmax_row.h"
#include "plugins/models/nn/transformer/device_rows_torch.h"

namespace draftlab {
namespace {

void rms_norm_row(const NormView& norm, const float* x, float* out) {
  on_widest([&] { rms_norm(norm, x, out); });
}

// Computes GPT-2's GELU, by its tanh.
float gelu(float x) {
  return 0.5f * x * (1 + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
}

bool leaves_state(const MemoryRow& row) { return row.asked || row.feature; }

template <class Work>
void each_row(std::int64_t many, const Work& work) {
  share_evenly(many, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) work(i);
  });
}

void add(float* x, const float* y, std::int64_t count) {
  on_widest([&] {
    for (std::int64_t i = 0; i < count; ++i) x[i] += y[i];
  });
}

}  // namespace

TransformerRows::TransformerRows(TransformerRows&&) noexcept = default;
TransformerRows::~TransformerRows() = default;

TransformerRows::TransformerRows(Transformer net, Precision precision, const PredictionHeads& heads,
                                 std::optional<at::Device> tensors)
    : config_(net.config), layout_(memory_layout(precision)) {
  const at::NoGradGuard no_grad;
  if (tensors) {
    if (heads.count > 0)
      throw ConfigError("prediction heads are computed on the CPU: run.device must be cpu");
    elsewhere_ = std::make_unique<DeviceRows>(std::move(net), tensor_options(*tensors, precision));
    return;
  }
  embedding_ = RowEmbedding(net.embed_tokens, net.lm_head, precision);
  positions_ = floats(net.embed_positions);
  has_head_ = net.lm_head.defined();
  if (has_head_) head_ = RowLinear(net.lm_head.detach(), net.lm_head_bias, precision);
  if (config_.conditioned()) {
    condition_ = ConditionMap(net.condition);
    modulation_ = ModulationMap(net.modulation, config_.hidden_size);
  }
  norm_ = {floats(net.norm), floats(net.norm_bias)};
  encoder_norm_ = {floats(net.encoder_norm), {}};
  net.embed_tokens = net.lm_head = at::Tensor();
  for (TransformerLayer& layer : net.layers) layers_.push_back(packed(layer, precision));
  for (TransformerLayer& layer : net.encoder) encoder_.push_back(packed(layer, precision));
  if (heads.count == 0) return;
  ahead_hidden_ = RowLinear(heads.hidden.detach(), heads.hidden_bias.detach(), precision);
  const std::int64_t d = config_.hidden_size;
  for (std::int64_t i = 0; i < heads.count; ++i)
    ahead_.emplace_back(heads.project.detach().narrow(0, i * d, d),
                        heads.project_bias.detach().narrow(0, i * d, d), precision);
  ahead_width_ = heads.count * heads.filter();
}

TransformerRows::Layer TransformerRows::packed(TransformerLayer& from, Precision precision) const {
  Layer layer;
  const at::Tensor kv_bias =
      from.k_bias.defined() ? at::cat({from.k_bias, from.v_bias}) : at::Tensor();
  layer.q = RowLinear(from.q.detach(), from.q_bias, precision);
  layer.kv = RowLinear(at::cat({from.k, from.v}), kv_bias, precision);
  layer.o = RowLinear(from.o.detach(), from.o_bias, precision);
  layer.crosses = from.cross_q.defined();
  if (layer.crosses) {
    layer.cross_q = RowLinear(from.cross_q.detach(), {}, precision);
    layer.cross_kv = RowLinear(at::cat({from.cross_k, from.cross_v}), {}, precision);
    layer.cross_o = RowLinear(from.cross_o.detach(), {}, precision);
  }
  layer.gate_up = RowLinear(from.gate.defined() ? at::cat({from.gate, from.up}) : from.up.detach(),
                            from.up_bias, precision);
  layer.down = RowLinear(from.down.detach(), from.down_bias, precision);
  layer.input = {floats(from.input_layernorm), floats(from.input_layernorm_bias)};
  layer.cross = {floats(from.cross_layernorm), {}};
  layer.post = {floats(from.post_attention_layernorm), floats(from.post_attention_layernorm_bias)};
  layer.q_norm = floats(from.q_norm);
  layer.k_norm = floats(from.k_norm);
  layer.inner = from.up.size(0);
  layer.wide = from.q.size(1) > config_.hidden_size;
  if (from.modulation.weight.defined())
    layer.modulation = ModulationMap(from.modulation, config_.hidden_size);
  if (!from.experts.empty()) layer.experts = ExpertRows(config_.experts, from, precision);
  from = {};
  return layer;
}

void TransformerRows::prepare(std::int64_t positions) {
  if (elsewhere_) return;
  const std::int64_t half = config_.rotary() / 2;
  if (positions * half <= static_cast<std::int64_t>(cosines_.size())) return;
  const auto [cosine, sine] = rotary(at::arange(positions, at::kLong), config_);
  cosines_ = floats(cosine);
  sines_ = floats(sine);
}

void TransformerRows::rotate(float* head, const std::vector<float>& norm, std::int32_t position,
                             float scale) const {
  const std::int64_t half = config_.rotary() / 2;
  if (!norm.empty())
    rms_norm_row({config_.head_dim, config_.rms_norm_eps, norm.data()}, head, head);
  if (config_.gpt2()) {
    for (std::int64_t i = 0; i < config_.head_dim; ++i) head[i] *= scale;
    return;
  }
  const float *cosine = cosines_.data() + position * half, *sine = sines_.data() + position * half;
  for (std::int64_t i = 0; i < half; ++i) {
    const float a = head[i], b = head[half + i];
    head[i] = scale * (a * cosine[i] - b * sine[i]);
    head[half + i] = scale * (b * cosine[i] + a * sine[i]);
  }
  for (std::int64_t i = 2 * half; i < config_.head_dim; ++i) head[i] *= scale;
}

void TransformerRows::normed(const Norm& norm, const float* x, std::int64_t rows,
                             float* out) const {
  const std::int64_t d = config_.hidden_size;
  const NormView view{d, config_.rms_norm_eps, norm.weight.data(), norm.bias.data()};
  each_row(rows, [&](std::int64_t i) {
    if (norm.weight.empty())
      std::copy_n(x + i * d, d, out + i * d);
    else if (norm.bias.empty())
      rms_norm_row(view, x + i * d, out + i * d);
    else
      layer_norm(view, x + i * d, out + i * d);
  });
}

void TransformerRows::embed(std::span<const MemoryRow> rows, float* x) const {
  const std::int64_t d = config_.hidden_size;
  for (std::size_t i = 0; i < rows.size(); ++i, x += d) {
    if (rows[i].layers.from > 0 || rows[i].token == kNoToken) {
      std::copy_n(rows[i].layers.state, d, x);
      continue;
    }
    embedding_.write(rows[i].token, head_, x);
    if (!positions_.empty()) add(x, positions_.data() + rows[i].position * d, d);
  }
}

// The rows that are in the current layer, and room for what is computed of them.
struct TransformerRows::Pass {
  using Room = std::unique_ptr<float[]>;

  // Layers have feed-forward networks of at most `widest` numbers.
  Pass(const TransformerConfig& config, std::int64_t widest, std::span<const MemoryRow> rows,
       float* x)
      : rows(rows), x(x), d(config.hidden_size) {
    const auto count = static_cast<std::int64_t>(rows.size());
    const std::int64_t all = config.num_attention_heads * config.head_dim,
                       shared = config.num_key_value_heads * config.head_dim;
    packed = room(count * d), inside = room(count * d), added = room(count * d);
    q = room(count * all), joined = room(count * all), kv = room(count * 2 * shared);
    wide = room(count * 2 * widest), gated_rows = room(count * widest);
  }

  // Lets attention read what was put inside, behind what stands beside each row where it is wide.
  void read(bool wide) {
    width = wide ? 2 * d : d;
    reads = inside.get();
    if (!wide) return;
    if (!pairs) pairs = room(2 * d * static_cast<std::int64_t>(rows.size()));
    for (std::int64_t i = 0; i < active(); ++i) {
      std::copy_n(above[i]->beside, d, pairs.get() + 2 * i * d);
      std::copy_n(inside.get() + i * d, d, pairs.get() + (2 * i + 1) * d);
    }
    reads = pairs.get();
  }

  // Gathers the rows that are in layer l. Returns whether there are any.
  bool enter(std::int64_t l) {
    in.clear();
    above.clear();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (l < rows[i].layers.from || l >= rows[i].layers.until) continue;
      in.push_back(static_cast<std::int64_t>(i));
      above.push_back(&rows[i]);
    }
    y = in.size() == rows.size() ? x : packed.get();
    if (y != x)
      for (std::int64_t i = 0; i < active(); ++i) std::copy_n(x + in[i] * d, d, y + i * d);
    return !in.empty();
  }

  // Keeps the rows that leave something.
  void drop_silent() {
    std::int64_t to = 0;
    for (std::int64_t i = 0; i < active(); ++i) {
      if (!leaves_state(*above[i])) continue;
      if (i != to) std::copy_n(reads + i * width, width, reads + to * width);
      if (i != to || y != packed.get()) std::copy_n(y + i * d, d, packed.get() + to * d);
      in[to] = in[i];
      above[to++] = above[i];
    }
    y = packed.get();
    in.resize(to);
    above.resize(to);
  }

  void leave() {
    if (y == x) return;
    for (std::int64_t i = 0; i < active(); ++i) std::copy_n(y + i * d, d, x + in[i] * d);
  }

  std::int64_t active() const { return static_cast<std::int64_t>(in.size()); }

  std::span<const MemoryRow> rows;
  float* x;
  std::int64_t d;
  // The rows in the layer, as places among all rows. Their x stand together in `y`, which is x
  // itself where all are in.
  std::vector<std::int64_t> in;
  std::vector<const MemoryRow*> above;
  float* y = nullptr;
  // How the layer modulates its rows.
  const RowModulation* modulation = nullptr;
  // What attention reads of each row, so many numbers.
  float* reads = nullptr;
  std::int64_t width = 0;
  Room packed, inside, pairs, added, q, joined, kv, wide, gated_rows;
};

void TransformerRows::put_keys(const Layer& layer, std::int64_t l, Pass& pass) const {
  const std::int64_t shared = config_.num_key_value_heads * config_.head_dim;
  normed(layer.input, pass.y, pass.active(), pass.inside.get());
  pass.modulation->shift_and_scale(0, pass.in, pass.inside.get());
  pass.read(layer.wide);
  // The memories of several sequences are not in the cache at once.
  if (pass.above.front()->memory != pass.above.back()->memory)
    for (const MemoryRow* row : pass.above) row->memory->fetch_slot(l, row->slot);
  layer.kv.apply(pass.reads, pass.active(), pass.kv.get());
  each_row(pass.active(),
           [&](std::int64_t i) { put(layer, l, *pass.above[i], pass.kv.get() + i * 2 * shared); });
}

void TransformerRows::put(const Layer& layer, std::int64_t l, const MemoryRow& row,
                          float* kv) const {
  const std::int64_t head = config_.head_dim, groups = config_.num_key_value_heads;
  for (std::int64_t g = 0; g < groups; ++g) {
    float* const key = kv + g * head;
    rotate(key, layer.k_norm, row.position, 1);
    row.memory->put({l, g, row.slot}, key, key + groups * head);
  }
}

void TransformerRows::lend(std::span<const MemoryRow> rows) const {
  const std::int64_t d = config_.hidden_size,
                     shared = config_.num_key_value_heads * config_.head_dim;
  const auto count = static_cast<std::int64_t>(rows.size());
  const auto x = room(count * d), kv = room(count * 2 * shared);
  for (std::int64_t i = 0; i < count; ++i) {
    rows[i].memory->settle(layout_);
    std::copy_n(rows[i].layers.state, d, x.get() + i * d);
  }
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    layers_[l].kv.apply(x.get(), count, kv.get());
    for (std::int64_t i = 0; i < count; ++i)
      put(layers_[l], static_cast<std::int64_t>(l), rows[i], kv.get() + i * 2 * shared);
  }
}

void TransformerRows::attend_layer(const Layer& layer, std::int64_t l, bool to_source,
                                   Pass& pass) const {
  const std::int64_t head = config_.head_dim, heads = config_.num_attention_heads;
  const float scale = 1 / std::sqrt(static_cast<float>(head));
  static const std::vector<float> none;
  const std::vector<float>& norm = to_source ? none : layer.q_norm;
  (to_source ? layer.cross_q : layer.q).apply(pass.reads, pass.active(), pass.q.get());
  each_row(pass.active(), [&](std::int64_t i) {
    const std::int32_t position = to_source ? 0 : pass.above[i]->position;
    for (std::int64_t h = 0; h < heads; ++h)
      rotate(pass.q.get() + (i * heads + h) * head, norm, position, scale);
  });
  attend({l, pass.above, to_source, pass.q.get(), pass.joined.get()});
  const RowLinear& output = to_source ? layer.cross_o : layer.o;
  output.apply(pass.joined.get(), pass.active(), pass.added.get());
  if (!to_source) pass.modulation->gate(2, pass.in, pass.added.get());
  add(pass.y, pass.added.get(), pass.active() * pass.d);
}

void TransformerRows::feed(const Layer& layer, Pass& pass) const {
  const std::int64_t inner = layer.inner, active = pass.active();
  layer.gate_up.apply(pass.inside.get(), active, pass.wide.get());
  each_row(active, [&](std::int64_t i) {
    const float* const wide = pass.wide.get();
    float* to = pass.gated_rows.get() + i * inner;
    if (config_.gated()) return gated(wide + i * 2 * inner, wide + (2 * i + 1) * inner, inner, to);
    std::copy_n(wide + i * inner, inner, to);
    if (config_.exact_gelu) return exact_gelu(to, inner);
    for (std::int64_t j = 0; j < inner; ++j) to[j] = gelu(to[j]);
  });
  layer.down.apply(pass.gated_rows.get(), active, pass.added.get());
  if (!layer.experts.empty()) layer.experts.add(pass.inside.get(), active, pass.added.get());
  pass.modulation->gate(5, pass.in, pass.added.get());
  add(pass.y, pass.added.get(), active * pass.d);
}

void TransformerRows::leave_taps(std::int64_t layers, const Pass& pass) const {
  for (std::size_t tap = 0; tap < taps_.size(); ++tap) {
    if (taps_[tap] != layers) continue;
    for (std::size_t i = 0; i < pass.rows.size(); ++i)
      if (pass.rows[i].feature)
        std::copy_n(pass.x + static_cast<std::int64_t>(i) * pass.d, pass.d,
                    pass.rows[i].feature + static_cast<std::int64_t>(tap) * pass.d);
  }
}

RowConditions TransformerRows::conditions(std::span<const MemoryRow> rows) const {
  std::vector<float> noise;
  for (const MemoryRow& row : rows) noise.push_back(row.noise);
  return condition_.of(noise);
}

void TransformerRows::run(const std::vector<Layer>& layers, std::span<const MemoryRow> rows,
                          const RowConditions& conditions, float* x) const {
  const std::int64_t d = config_.hidden_size, depth = static_cast<std::int64_t>(layers.size());
  std::int64_t widest = 0;
  for (const Layer& layer : layers) widest = std::max(widest, layer.inner);
  for (const MemoryRow& row : rows) row.memory->settle(layout_);
  Pass pass(config_, widest, rows, x);
  const bool tapped = &layers == &layers_ && !taps_.empty();
  if (tapped) leave_taps(0, pass);
  for (std::int64_t l = 0; l < depth; ++l) {
    const Layer& layer = layers[l];
    if (!pass.enter(l)) continue;
    const RowModulation modulation = layer.modulation.of(conditions);
    pass.modulation = &modulation;
    put_keys(layer, l, pass);
    // From here on only the outputs of the rows that leave something are wanted.
    if (&layers == &layers_ && l + 1 == depth) pass.drop_silent();
    attend_layer(layer, l, false, pass);
    if (layer.crosses) {
      normed(layer.cross, pass.y, pass.active(), pass.inside.get());
      pass.read(false);
      attend_layer(layer, l, true, pass);
    }
    normed(layer.post, pass.y, pass.active(), pass.inside.get());
    modulation.shift_and_scale(3, pass.in, pass.inside.get());
    feed(layer, pass);
    pass.leave();
    if (tapped) leave_taps(l + 1, pass);
  }
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].layers.until < depth && rows[i].layers.state)
      std::copy_n(x + i * d, d, rows[i].layers.state);
}

at::Tensor TransformerRows::forward(std::span<const MemoryRow> rows) const {
  const at::NoGradGuard no_grad;
  if (elsewhere_) return elsewhere_->forward(rows);
  const std::int64_t d = config_.hidden_size;
  const auto count = static_cast<std::int64_t>(rows.size());
  const TimedForward timed(threads_, count);
  const auto x = room(count * d);
  embed(rows, x.get());
  const RowConditions conditioned = conditions(rows);
  run(layers_, rows, conditioned, x.get());

  std::vector<const MemoryRow*> left;
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < count; ++i) {
    if (!leaves_state(rows[i])) continue;
    std::copy_n(x.get() + i * d, d, x.get() + static_cast<std::int64_t>(left.size()) * d);
    left.push_back(&rows[i]);
    places.push_back(i);
  }
  const auto hidden = room(static_cast<std::int64_t>(left.size()) * d);
  normed(norm_, x.get(), static_cast<std::int64_t>(left.size()), hidden.get());
  modulation_.of(conditioned).shift_and_scale(0, places, hidden.get());
  // For each asked row: how many further heads are wanted.
  std::vector<std::int32_t> ahead;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const float* const own = hidden.get() + static_cast<std::int64_t>(i) * d;
    if (left[i]->feature && taps_.empty()) std::copy_n(own, d, left[i]->feature);
    if (!left[i]->asked) continue;
    if (ahead.size() < i)
      std::copy_n(own, d, hidden.get() + static_cast<std::int64_t>(ahead.size()) * d);
    ahead.push_back(left[i]->ahead);
  }
  // For each row: where its logits begin.
  std::vector<std::int64_t> line{0};
  for (const std::int32_t further : ahead) line.push_back(line.back() + 1 + further);
  const std::int64_t lines = line.back();
  at::Tensor kept = at::empty({lines, d});
  if (lines == 0) return kept;
  float* const states = kept.data_ptr<float>();
  if (ahead_.empty())
    std::copy_n(hidden.get(), lines * d, states);
  else
    predict(hidden.get(), ahead, line, states);
  return has_head_ ? logits(states, lines) : kept;
}

at::Tensor TransformerRows::logits(const float* states, std::int64_t rows) const {
  at::Tensor logits = at::empty({rows, config_.vocab_size});
  head_.apply(states, rows, logits.data_ptr<float>());
  return logits;
}

void TransformerRows::predict(const float* hidden, std::span<const std::int32_t> ahead,
                              std::span<const std::int64_t> line, float* states) const {
  const std::int64_t d = config_.hidden_size;
  const auto asked = static_cast<std::int64_t>(ahead.size());
  const auto inside = room(asked * ahead_width_), some = room(asked * ahead_width_),
             out = room(asked * d);
  ahead_hidden_.apply(hidden, asked, inside.get());
  for (std::int64_t i = 0; i < asked * ahead_width_; ++i) inside[i] = std::max(inside[i], 0.0f);
  std::vector<std::int64_t> wanting;
  for (std::int64_t h = 0; h < static_cast<std::int64_t>(ahead_.size()); ++h) {
    wanting.clear();
    for (std::int64_t i = 0; i < asked; ++i)
      if (ahead[i] >= h) wanting.push_back(i);
    const auto many = static_cast<std::int64_t>(wanting.size());
    if (many == 0) return;
    for (std::int64_t i = 0; i < many; ++i)
      std::copy_n(inside.get() + wanting[i] * ahead_width_, ahead_width_,
                  some.get() + i * ahead_width_);
    ahead_[h].apply(some.get(), many, out.get());
    for (std::int64_t i = 0; i < many; ++i) {
      float* const to = states + (line[wanting[i]] + h) * d;
      for (std::int64_t j = 0; j < d; ++j) to[j] = hidden[wanting[i] * d + j] + out[i * d + j];
    }
  }
}

void TransformerRows::encode(std::span<const MemoryRow> rows) const {
  const at::NoGradGuard no_grad;
  const std::int64_t d = config_.hidden_size, head = config_.head_dim,
                     groups = config_.num_key_value_heads, shared = groups * head;
  const auto count = static_cast<std::int64_t>(rows.size());
  const auto x = room(count * d), encoded = room(count * d), kv = room(count * 2 * shared);
  embed(rows, x.get());
  run(encoder_, rows, {}, x.get());
  normed(encoder_norm_, x.get(), count, encoded.get());
  for (std::int64_t i = 0; i < count; ++i) {
    rows[i].source->settle(layout_);
    if (rows[i].layers.state) std::copy_n(encoded.get() + i * d, d, rows[i].layers.state);
  }
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    layers_[l].cross_kv.apply(encoded.get(), count, kv.get());
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t g = 0; g < groups; ++g) {
        const float* const key = kv.get() + i * 2 * shared + g * head;
        rows[i].source->put({static_cast<std::int64_t>(l), g, rows[i].slot}, key, key + shared);
      }
    }
  }
}

}  // namespace draftlab
