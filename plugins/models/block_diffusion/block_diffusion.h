// The options of the model `block-diffusion`, declared without torch.
#pragma once

#include <array>
#include <string_view>

#include "core/config/options.h"
#include "core/model/model.h"
#include "plugins/models/nn/transformer/decoder_options.h"

namespace draftlab {

// What a row sees of its own block: all of it, or what precedes the row.
enum class SeenRows { block, causal };
constexpr std::array<std::string_view, 2> words(SeenRows) { return {"block", "causal"}; }

// The forward that computes a finished block's keys and values.
enum class BlockCommit { separate, ride };
constexpr std::array<std::string_view, 2> words(BlockCommit) { return {"separate", "ride"}; }

// The rows that a verification computes.
enum class VerifiedRows { span, block };
constexpr std::array<std::string_view, 2> words(VerifiedRows) { return {"span", "block"}; }

// When denoising computes the whole block although it keeps the block's rows: never kept (`off`),
// while the first position of the part that is decoded is masked (`masked`), or only the first time
// (`once`).
enum class PartCache { off, masked, once };
constexpr std::array<std::string_view, 3> words(PartCache) { return {"off", "masked", "once"}; }

struct BlockDiffusionOptions : DecoderOptions {
  SeenRows cache = SeenRows::block, draft_mask = SeenRows::block;
  BlockCommit commit = BlockCommit::separate;
  VerifiedRows verify_rows = VerifiedRows::span;
  PartCache sub_block_cache = PartCache::off;
  void declare(OptionSet& set);
};

}  // namespace draftlab

// The torch module exports this function; the caller owns the model.
extern "C" draftlab::Model* draftlab_make_block_diffusion(
    const draftlab::BlockDiffusionOptions* options);
