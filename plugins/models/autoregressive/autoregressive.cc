// The model `autoregressive` is a causal transformer, alone or with an encoder of the prompt, with
// prediction heads or without (Llama, Mistral, Qwen2, Qwen3, GPT-2; Stern et al., 2018). Torch is
// loaded when one is made.
#include "plugins/models/autoregressive/autoregressive.h"

#include "core/config/plugin.h"
#include "plugins/models/nn/torch_module.h"

namespace draftlab {

void AutoregressiveOptions::declare(OptionSet& set) {
  set.add("checkpoint", &checkpoint)
      .help(
          "Folder with config.json and model.safetensors (or several files and their index), in "
          "Hugging Face's names; or a file of llama2.c (.bin).");
  set.add("heads", &heads)
      .help(
          "Folder with heads.safetensors: prediction heads made for this checkpoint; empty: its "
          "own, where it has some.");
  set.add("first_head", &first_head)
      .help(
          "Head 1: with the layer that was trained for it, or the base's own head, with which "
          "exact match keeps the base's greedy texts.");
  set.add("feature_head", &feature_head)
      .help(
          "Folder with feature_head.safetensors, made for this checkpoint, or of the speculators "
          "format: a layer that answers shallow questions from the states of all (EAGLE, EAGLE-3, "
          "MTP).");
  set.add("hydra_heads", &hydra_heads)
      .help(
          "Folder with hydra_heads.safetensors, made for this checkpoint: prediction heads that "
          "see the drafts before theirs and answer shallow questions (Hydra); empty: none.");
  set.add("cache", &cache)
      .help(
          "Keep the rows of tokens that the canvas still agrees with, or compute every question "
          "from the first token on.");
  set.add("exit_layers", &exit_layers)
      .in(0, 1024)
      .help(
          "E: layers that answer shallow questions (early exit), fewer than there are; 0: such "
          "questions are refused, or left to feature_head or hydra_heads.");
  set.add("longest", &longest)
      .in(0, 1 << 20)
      .help(
          "Longest canvas, no longer than learned vectors of positions; 0: the checkpoint's "
          "max_position_embeddings.");
  add_dtype(set, &dtype);
}

}  // namespace draftlab

DRAFTLAB_PLUGIN(model, autoregressive) {
  using namespace draftlab;
  registries.models.add_with<AutoregressiveOptions>(
      "autoregressive",
      "causal transformer with a cache, prediction heads, an encoder (Llama, Mistral, Qwen2, "
      "Qwen3, GPT-2; Stern et al., 2018); libtorch",
      {Form::committed, Form::chain, Form::shallow},
      torch_model<decltype(draftlab_make_autoregressive)>("draftlab_make_autoregressive"));
}
