// The model `mar` makes masked autoregressive images whose tokens are vectors, drawn by a diffusion
// head (Li et al., 2024), or is its causal variant, as the checkpoint says. Torch is loaded when
// one is made.
#include "plugins/models/mar/mar.h"

#include "core/config/plugin.h"
#include "plugins/models/nn/torch_module.h"

namespace draftlab {

void MarOptions::declare(OptionSet& set) {
  set.add("checkpoint", &checkpoint)
      .help(
          "Folder with config.json and model.safetensors, in MAR's names (its own files are "
          "pickles: save their model_ema as safetensors); `causal` in config.json makes it a "
          "decoder in raster order with a key-value cache.");
  set.add("guidance", &guidance)
      .in(0, 100)
      .help(
          "Classifier-free guidance: what the head says without the class, plus so many times what "
          "the class changes; 1: none. It doubles every forward.");
  set.add("guidance_schedule", &guidance_schedule)
      .help(
          "linear: it grows from 1 with the share of tokens that are known once those asked "
          "together are, as MAR has it.");
  set.add("steps", &steps)
      .help(
          "Reverse steps that a token takes, of the 1000 of training: N, or ddimN; auto: the "
          "checkpoint's num_sampling_steps.");
  set.add("variance", &variance)
      .help(
          "Variance of a reverse step; auto: the checkpoint's. A learned one needs a head that "
          "predicts it.");
  add_dtype(set, &dtype);
}

}  // namespace draftlab

DRAFTLAB_PLUGIN(model, mar) {
  using namespace draftlab;
  registries.models.add_with<MarOptions>(
      "mar",
      "masked autoregressive images of vector tokens with a diffusion head, bidirectional or "
      "causal (MAR, CSpD); libtorch",
      {Form::committed, Form::chain, Form::branches, Form::reverse},
      torch_model<decltype(draftlab_make_mar)>("draftlab_make_mar"));
}
