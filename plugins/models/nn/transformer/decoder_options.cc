#include "plugins/models/nn/transformer/decoder_options.h"

namespace draftlab {

void DecoderOptions::declare(OptionSet& set) {
  set.add("checkpoint", &checkpoint)
      .help(
          "Folder with config.json and model.safetensors (or several files and their index), in "
          "Hugging Face's names.");
  set.add("shifted", &shifted)
      .help(
          "Logits for a position stand in its row or in the row before; auto: as the checkpoint's "
          "family has it.");
  set.add("longest", &longest)
      .in(0, 1 << 20)
      .help("Longest canvas; 0: the checkpoint's max_position_embeddings.");
  add_dtype(set, &dtype);
}

}  // namespace draftlab
