#include "plugins/models/xlnet/any_subset_loss_torch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/nll_loss.h>

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

// A batch in tensors.
struct BatchTensors {
  // The shapes are [n, L], [n, L], and [n, 2 L]: the limits of content rows, then of query rows.
  at::Tensor ids, rank, limit;
  // The places of the scored tokens among all n L.
  std::vector<std::int64_t> scored;
};

BatchTensors tensors_of(const AnySubsetBatch& batch) {
  const auto n = static_cast<std::int64_t>(batch.tokens.size()),
             length = static_cast<std::int64_t>(batch.tokens[0].size());
  BatchTensors tensors{at::empty({n, length}, at::kLong),
                       at::empty({n, length}, at::kInt),
                       at::empty({n, 2 * length}, at::kInt),
                       {}};
  for (std::int64_t b = 0; b < n; b++) {
    const Arrangement& arrangement = batch.arrangements[b];
    auto* const limits = tensors.limit.data_ptr<std::int32_t>() + b * 2 * length;
    for (std::int64_t i = 0; i < length; i++) {
      const std::int64_t at = b * length + i;
      tensors.ids.data_ptr<std::int64_t>()[at] = batch.tokens[b][i];
      tensors.rank.data_ptr<std::int32_t>()[at] = arrangement.rank[i];
      limits[i] = content_limit(arrangement, static_cast<std::int32_t>(i));
      limits[length + i] = query_limit(arrangement, static_cast<std::int32_t>(i));
      if (arrangement.rank[i] >= arrangement.prompt) tensors.scored.push_back(at);
    }
  }
  return tensors;
}

// The rows of each canvas on their way through the layers: the content of every position, then the
// query of every position.
class LossRows {
 public:
  LossRows(const Xlnet& net, const BatchTensors& batch, bool bf16)
      : config_(net.config),
        bf16_(bf16),
        length_(batch.ids.size(1)),
        rank_(batch.rank),
        limit_(batch.limit),
        offsets_(
            compute(positional_rows(length_ - 1, 1 - length_, config_.d_model).to(at::kFloat))) {
    x_ = at::cat({at::embedding(net.word_embedding, batch.ids),
                  net.mask_emb.expand({batch.ids.size(0), length_, config_.d_model})},
                 1);
  }

  // Sends the rows through a layer. The last one's content is nobody's key.
  void pass(const XlnetLayer& layer, bool last) {
    at::Tensor above = compute(x_);
    const at::Tensor content = above.narrow(1, 0, length_);
    if (last) {
      x_ = x_.narrow(1, length_, length_);
      above = above.narrow(1, length_, length_);
      limit_ = limit_.narrow(1, length_, length_).contiguous();
    }
    const at::Tensor seen = from_heads(attended(layer, above, content));
    x_ = norm(x_ + at::matmul(seen, matrix(layer.o).t()), layer.attention_norm,
              layer.attention_norm_bias, config_.layer_norm_eps);
    const at::Tensor inner =
        at::gelu(at::linear(compute(x_), compute(layer.inner), compute(layer.inner_bias)));
    x_ = norm(x_ + at::linear(inner, compute(layer.outer), compute(layer.outer_bias)),
              layer.ff_norm, layer.ff_norm_bias, config_.layer_norm_eps);
  }

  // Returns the rows of some places among all rows that are left, for products.
  at::Tensor rows(const at::Tensor& places) const {
    return compute(x_.flatten(0, 1).index_select(0, places));
  }
  at::Tensor compute(const at::Tensor& x) const { return bf16_ ? x.to(at::kBFloat16) : x; }

 private:
  // Maps [d, H, dh] to [d, H dh].
  at::Tensor matrix(const at::Tensor& weight) const { return compute(weight).flatten(1); }

  at::Tensor attended(const XlnetLayer& layer, const at::Tensor& above,
                      const at::Tensor& content) const {
    const std::int64_t heads = config_.n_head;
    const auto in_heads = [&](const at::Tensor& x, const at::Tensor& weight) {
      return to_heads(at::matmul(x, matrix(weight)), heads);
    };
    const at::Tensor q = in_heads(above, layer.q);
    const at::Tensor r = at::matmul(offsets_, matrix(layer.r))
                             .view({2 * length_ - 1, heads, config_.d_head})
                             .permute({1, 0, 2})
                             .contiguous();
    const auto biased = [&](const at::Tensor& bias) {
      return q + compute(bias).view({heads, 1, 1, config_.d_head});
    };
    return two_stream_attention({biased(layer.r_w_bias), biased(layer.r_r_bias)},
                                {in_heads(content, layer.k), in_heads(content, layer.v), r},
                                {rank_, limit_});
  }

  const XlnetConfig& config_;
  bool bf16_;
  std::int64_t length_;
  at::Tensor rank_, limit_, offsets_, x_;
};

}  // namespace

std::int64_t AnySubsetBatch::scored() const {
  std::int64_t count = 0;
  for (const Arrangement& a : arrangements)
    count += static_cast<std::int64_t>(a.rank.size()) - a.prompt;
  return count;
}

at::Tensor any_subset_nll(const Xlnet& net, const AnySubsetBatch& batch, bool bf16) {
  BatchTensors tensors = tensors_of(batch);
  LossRows rows(net, tensors, bf16);
  for (const XlnetLayer& layer : net.layers) rows.pass(layer, &layer == &net.layers.back());
  const at::Tensor at = at::from_blob(tensors.scored.data(),
                                      {static_cast<std::int64_t>(tensors.scored.size())}, at::kLong)
                            .clone();
  const at::Tensor logits =
      at::linear(rows.rows(at), rows.compute(net.lm_weight), rows.compute(net.lm_bias))
          .to(at::kFloat);
  return at::nll_loss(at::log_softmax(logits, -1), tensors.ids.flatten().index_select(0, at), {},
                      at::Reduction::None);
}

}  // namespace draftlab
