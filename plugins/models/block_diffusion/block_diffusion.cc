// The model `block-diffusion` is a transformer that denoises one block at a time over the cached
// blocks before it, and is an autoregressive model at block size 1 (SDAR, Fast-dLLM v2, LLaDA2).
// Torch is loaded when one is made.
#include "plugins/models/block_diffusion/block_diffusion.h"

#include "core/config/plugin.h"
#include "plugins/models/nn/torch_module.h"

namespace draftlab {

void BlockDiffusionOptions::declare(OptionSet& set) {
  DecoderOptions::declare(set);
  set.add("cache", &cache)
      .help(
          "What cached rows saw: their block and those before it, or the tokens before them (AR "
          "caching: the cache of block size 1).");
  set.add("draft_mask", &draft_mask)
      .help(
          "Denoising: rows before the block's first mask see the whole block, or the tokens before "
          "them (Eq. 4 of S2D2).");
  set.add("commit", &commit)
      .help(
          "A finished block's keys and values cost a forward of their own, also the last one's, or "
          "are computed in the next forward that needs them.");
  set.add("verify_rows", &verify_rows)
      .help(
          "Verification computes the drafted span and what precedes it, or the whole block: the "
          "same answers.");
  set.add("sub_block_cache", &sub_block_cache)
      .help(
          "Denoising recomputes the rows of the current sub-block only (decode.sub_block), against "
          "the block's other rows as they were computed before: "
          "approximate, hence lossy for what is committed unverified. The whole block is "
          "recomputed while the sub-block's first position is masked (Fast-dLLM v2), or once a "
          "block "
          "(S2D2's port: right-shifted, a sub-block's first position is then answered by its own "
          "row instead of the one before).");
}

}  // namespace draftlab

DRAFTLAB_PLUGIN(model, block_diffusion) {
  using namespace draftlab;
  registries.models.add_with<BlockDiffusionOptions>(
      "block-diffusion",
      "block-diffusion transformer with a cache of finished blocks (SDAR, Fast-dLLM v2, LLaDA2; "
      "S2D2); libtorch",
      {Form::committed, Form::chain},
      torch_model<decltype(draftlab_make_block_diffusion)>("draftlab_make_block_diffusion"));
}
