// Writes a checkpoint as llama.cpp reads it, so that a benchmark runs both programs on one model.
#pragma once

#include <string>

#include "plugins/models/nn/checkpoint/gguf.h"

namespace draftlab {

// Writes the model of FOLDER/config.json, a transformer of Qwen3's or Llama's kind whose weights
// stand in FOLDER/model.safetensors in f32, to `path`. Matrices become numbers of `type`, norms
// stay f32, and there are tokens but no words.
void write_gguf(const std::string& folder, GgufType type, const std::string& path);

}  // namespace draftlab
