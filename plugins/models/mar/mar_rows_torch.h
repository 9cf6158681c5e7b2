// MAR's backbone for decoding: the conditions z of asked positions, of many states in one forward
// without padding. A state's answer is, to the last bit, the same whatever else the forward
// computes.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plugins/models/kernels/row_linear_torch.h"
#include "plugins/models/mar/mar_network_torch.h"
#include "plugins/models/transformer/scratch_memories_torch.h"
#include "plugins/models/transformer/transformer_rows_torch.h"

namespace draftlab {

// What a bidirectional answer depends on.
struct MarState {
  struct Visible {
    std::int32_t place;
    const Eigen::VectorXd* value;
  };
  int label = 0;                    // class_num: none
  std::vector<Visible> visible;     // places ascend
  std::vector<std::int32_t> asked;  // places that are not visible
};

// One row of the causal variant. Its slot is what it stands for: the buffers come first, then the
// tokens of the line, then others.
struct MarCausalRow {
  RowMemory* memory = nullptr;
  int label = 0;
  std::int32_t place = -1;                 // of the token; -1: a buffer
  const Eigen::VectorXd* value = nullptr;  // nullptr: a buffer
  std::int64_t slot = 0, limit = 0;        // sees slots [0, limit)
  std::vector<std::int32_t> extras =
      {};              // and these, its own among them where it is not below limit
  bool asked = false;  // the condition of the next place is wanted
};

class MarRows {
 public:
  MarRows(const Mar& net, bool bf16);
  std::int64_t width() const { return wide_; }  // of a condition
  TransformerConfig memory_config() const { return decoder_config_; }

  // Conditions of the states' asked places in their order, [asked, width]. `positions`: adds the
  // rows computed, of each state.
  std::vector<float> conditions(std::span<const MarState> states,
                                std::span<std::int64_t* const> positions);
  // Conditions of the places that follow the asked rows, [asked, width].
  std::vector<float> conditions(std::span<const MarCausalRow> rows);

 private:
  // A row of input: the class, or a token's projection, and the learned position; normalised.
  void embed(int label, const float* projected, std::int64_t slot,
             const std::vector<float>& positions, float* to) const;
  std::vector<float> projected(const std::vector<const Eigen::VectorXd*>& values) const;
  void add_place(float* condition, std::int32_t place) const;

  MarConfig config_;
  std::int64_t d_, wide_;
  TransformerConfig encoder_config_, decoder_config_;
  std::vector<float> classes_;  // [classes + 1, d], the last of none
  RowLinear z_proj_, decoder_embed_;
  std::vector<float> norm_, norm_bias_, mask_, encoder_positions_, decoder_positions_,
      diffusion_positions_;
  std::optional<TransformerRows> encoder_, decoder_;
  std::optional<ScratchMemories> encoder_memories_, decoder_memories_;
};

}  // namespace draftlab
