// Reads heads of the format of vLLM's `speculators`: config.json and model.safetensors, by the
// names of its keys and tensors.
#pragma once

#include <string>

#include "plugins/models/nn/transformer/feature_head_torch.h"

namespace draftlab {

// Reads a folder whose `speculators_model_type` is eagle (one layer of a Llama, with or without
// norms at its ends), eagle3, dflash, or mtp (in the names of speculators, or those of Qwen3-Next:
// mtp.fc). The format does not say for which weights a head was made. Throws DataError where the
// folder is none of these, is misshapen, or asks for something that is not computed.
FeatureHead load_speculator(const std::string& folder, const TransformerConfig& target);

}  // namespace draftlab
