// MAR's backbone for decoding: it computes the conditions z of asked positions, of many states in
// one forward without padding. Where our own kernels compute, a state's answer is, to the last bit,
// the same whatever else the forward computes.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plugins/models/mar/mar_network_torch.h"
#include "plugins/models/nn/kernels/placed_linear_torch.h"
#include "plugins/models/nn/transformer/scratch_memories_torch.h"
#include "plugins/models/nn/transformer/transformer_rows_torch.h"

namespace draftlab {

// What a bidirectional answer depends on.
struct MarState {
  struct Visible {
    std::int32_t place;
    const Eigen::VectorXd* value;
  };
  // The class; class_num stands for none.
  int label = 0;
  // Their places ascend.
  std::vector<Visible> visible;
  // The places that are asked for, which are not visible.
  std::vector<std::int32_t> asked;
};

// One row of the causal variant. Its slot depends on what it stands for: the buffers come first,
// then the tokens of the line, then others.
struct MarCausalRow {
  RowMemory* memory = nullptr;
  int label = 0;
  // The place of the token; -1 for a buffer.
  std::int32_t place = -1;
  // The token's value; nullptr for a buffer.
  const Eigen::VectorXd* value = nullptr;
  // The row sees slots [0, limit).
  std::int64_t slot = 0, limit = 0;
  // It also sees these slots, its own among them where that is not below limit.
  std::vector<std::int32_t> extras = {};
  // Which ask of the question wants the condition of the next place.
  static constexpr int kUnasked = -1;
  int ask = kUnasked;
};

class MarRows {
 public:
  // With a device for `tensors`, tensor operations do the work of products and attention there.
  MarRows(const Mar& net, Precision precision, std::optional<at::Device> tensors = std::nullopt);
  // The width of a condition.
  std::int64_t width() const { return wide_; }
  TransformerConfig memory_config() const { return decoder_config_; }

  // Returns the conditions of the states' asked places in their order, [asked, width]. It adds the
  // number of rows computed of each state to `positions`.
  std::vector<float> conditions(std::span<const MarState> states,
                                std::span<std::int64_t* const> positions);
  // Returns the conditions of the places that follow the asked rows, [asked, width].
  std::vector<float> conditions(std::span<const MarCausalRow> rows);

 private:
  // Writes a row of input: the embedding of a class or a token's projection, plus the learned
  // position, normalised.
  void embed(const float* embedding, const float* position, float* to) const;
  const float* class_embedding(int label) const { return classes_.data() + label * d_; }
  // Returns what the decoder reads of the buffers and visible tokens of each state in turn, [rows,
  // width].
  std::vector<float> encoded(std::span<const MarState> states);
  // Returns the decoder's outputs at the asked places of each state, in ascending order.
  at::Tensor decoded(std::span<const MarState> states, const std::vector<float>& encoded);
  std::vector<float> projected(const std::vector<const Eigen::VectorXd*>& values) const;
  void add_place(float* condition, std::int32_t place) const;

  MarConfig config_;
  std::int64_t d_, wide_;
  TransformerConfig encoder_config_, decoder_config_;
  // The shape is [classes + 1, d]; the last row stands for no class.
  std::vector<float> classes_;
  PlacedLinear z_proj_, decoder_embed_;
  std::vector<float> norm_, norm_bias_, mask_, encoder_positions_, decoder_positions_,
      diffusion_positions_;
  std::optional<TransformerRows> encoder_, decoder_;
  std::optional<ScratchMemories> encoder_memories_, decoder_memories_;
};

}  // namespace draftlab
