// The config.json of SEDD (Lou, Meng and Ermon, 2024), which is the whole config of its training
// and has no key of Hugging Face's.
#pragma once

#include "plugins/models/nn/checkpoint/config_file.h"
#include "plugins/models/nn/transformer/transformer_config.h"

namespace draftlab {

// Says whether the file is of that kind: it has the objects `graph`, `noise` and `model` and no
// model_type.
bool is_sedd(const ConfigFile& file);

// Reads the network. Throws DataError where it was trained on another graph than the absorbing one,
// on another noise than the log-linear one, or is no transformer of this kind.
TransformerConfig read_sedd(const ConfigFile& file);

// Returns what such a file says of the network.
Json sedd_json(const TransformerConfig& config);

}  // namespace draftlab
