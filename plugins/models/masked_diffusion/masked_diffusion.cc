// The model `masked-diffusion` is a transformer whose every position sees the whole canvas, masked
// positions included (LLaDA, Dream), with the approximate caches of Fast-dLLM. A checkpoint without
// a mask token reads a random canvas (DiffusionGemma), and one whose layers are conditioned is told
// the canvas's noise level (SEDD). Torch is loaded when one is made.
#include "plugins/models/masked_diffusion/masked_diffusion.h"

#include "core/config/plugin.h"
#include "plugins/models/nn/torch_module.h"

namespace draftlab {

void MaskedDiffusionOptions::declare(OptionSet& set) {
  DecoderOptions::declare(set);
  set.add("cache", &cache)
      .help(
          "Keys and values kept from the last forward of the whole canvas: none, those before the "
          "current block, or those around it (Fast-dLLM).");
  set.add("refresh", &refresh)
      .in(0, 1 << 20)
      .help(
          "Committed tokens after which the whole canvas is computed again; 0: when a block "
          "begins.");
  set.add("cross", &cross)
      .help(
          "Answer drafted tokens past the next refresh from the old cache; false: the horizon ends "
          "there, as it must to equal stepwise decoding with this cache.");
  set.add("ride", &ride)
      .help(
          "Drafted tokens in the forward that refreshes: none; each a whole canvas of its own; or "
          "over the root's new keys and values, layer by layer, which is what they see "
          "afterwards.");
}

}  // namespace draftlab

DRAFTLAB_PLUGIN(model, masked_diffusion) {
  using namespace draftlab;
  registries.models.add_with<MaskedDiffusionOptions>(
      "masked-diffusion",
      "transformer that fills masks anywhere in its canvas, with prefix and dual caches (LLaDA, "
      "Dream, SEDD; Fast-dLLM, SSD); libtorch",
      {Form::committed, Form::branches},
      torch_model<decltype(draftlab_make_masked_diffusion)>("draftlab_make_masked_diffusion"));
}
