#include "plugins/models/xlnet/any_subset_loss_torch.h"

#include <ATen/ATen.h>

#include "plugins/models/xlnet/two_stream_attention_torch.h"

namespace draftlab {

namespace {

at::Tensor norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double eps) {
  return at::layer_norm(x, {x.size(-1)}, weight, bias, eps);
}

// Maps [B, R, H dh] to [H, B, R, dh], and back.
at::Tensor to_heads(const at::Tensor& x, std::int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, -1}).permute({2, 0, 1, 3}).contiguous();
}
at::Tensor from_heads(const at::Tensor& x) { return x.permute({1, 2, 0, 3}).flatten(2, 3); }

}  // namespace

std::int64_t AnySubsetBatch::scored() const {
  std::int64_t count = 0;
  for (const Arrangement& a : arrangements)
    count += static_cast<std::int64_t>(a.rank.size()) - a.prompt;
  return count;
}

at::Tensor any_subset_nll(const Xlnet& net, const AnySubsetBatch& batch, bool bf16) {
  const auto n = static_cast<std::int64_t>(batch.tokens.size()),
             length = static_cast<std::int64_t>(batch.tokens[0].size());
  const auto& config = net.config;
  at::Tensor ids = at::empty({n, length}, at::kLong), rank = at::empty({n, length}, at::kInt),
             limit = at::empty({n, 2 * length}, at::kInt);
  std::vector<std::int64_t> scored;
  for (std::int64_t b = 0; b < n; b++) {
    const Arrangement& arrangement = batch.arrangements[b];
    for (std::int64_t i = 0; i < length; i++) {
      ids.data_ptr<std::int64_t>()[b * length + i] = batch.tokens[b][i];
      rank.data_ptr<std::int32_t>()[b * length + i] = arrangement.rank[i];
      limit.data_ptr<std::int32_t>()[b * 2 * length + i] =
          content_limit(arrangement, static_cast<std::int32_t>(i));
      limit.data_ptr<std::int32_t>()[b * 2 * length + length + i] =
          query_limit(arrangement, static_cast<std::int32_t>(i));
      if (arrangement.rank[i] >= arrangement.prompt) scored.push_back(b * length + i);
    }
  }
  const auto compute = [bf16](const at::Tensor& x) { return bf16 ? x.to(at::kBFloat16) : x; };
  // Maps [d, H, dh] to [d, H dh].
  const auto matrix = [&](const at::Tensor& weight) { return compute(weight).flatten(1); };

  // The rows of one canvas are the content of every position, then the query of every position.
  at::Tensor x = at::cat(
      {at::embedding(net.word_embedding, ids), net.mask_emb.expand({n, length, config.d_model})},
      1);
  const at::Tensor offsets =
      compute(positional_rows(length - 1, 1 - length, config.d_model).to(at::kFloat));
  for (std::size_t l = 0; l < net.layers.size(); l++) {
    const XlnetLayer& layer = net.layers[l];
    at::Tensor narrow = compute(x);
    const at::Tensor content = narrow.narrow(1, 0, length);
    at::Tensor limits = limit;
    // The last layer's content is nobody's key.
    if (l + 1 == net.layers.size()) {
      x = x.narrow(1, length, length);
      narrow = narrow.narrow(1, length, length);
      limits = limit.narrow(1, length, length).contiguous();
    }
    const std::int64_t heads = config.n_head;
    const at::Tensor q = to_heads(at::matmul(narrow, matrix(layer.q)), heads);
    const at::Tensor k = to_heads(at::matmul(content, matrix(layer.k)), heads);
    const at::Tensor v = to_heads(at::matmul(content, matrix(layer.v)), heads);
    const at::Tensor r = at::matmul(offsets, matrix(layer.r))
                             .view({2 * length - 1, heads, config.d_head})
                             .permute({1, 0, 2})
                             .contiguous();
    const auto biased = [&](const at::Tensor& bias) {
      return q + compute(bias).view({heads, 1, 1, config.d_head});
    };
    const at::Tensor seen = from_heads(two_stream_attention(
        biased(layer.r_w_bias), biased(layer.r_r_bias), k, v, r, rank, limits));
    x = norm(x + at::matmul(seen, matrix(layer.o).t()), layer.attention_norm,
             layer.attention_norm_bias, config.layer_norm_eps);
    const at::Tensor inner =
        at::gelu(at::linear(compute(x), compute(layer.inner), compute(layer.inner_bias)));
    x = norm(x + at::linear(inner, compute(layer.outer), compute(layer.outer_bias)), layer.ff_norm,
             layer.ff_norm_bias, config.layer_norm_eps);
  }

  const at::Tensor at =
      at::from_blob(scored.data(), {static_cast<std::int64_t>(scored.size())}, at::kLong).clone();
  const at::Tensor rows = compute(x.flatten(0, 1).index_select(0, at));
  const at::Tensor logits =
      at::linear(rows, compute(net.lm_weight), compute(net.lm_bias)).to(at::kFloat);
  return at::nll_loss(at::log_softmax(logits, -1), ids.flatten().index_select(0, at), {},
                      at::Reduction::None);
}

}  // namespace draftlab
