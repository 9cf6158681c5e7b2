// What the config.json of a Llama or a Mistral says besides the keys that all families share, and
// the config of a file of llama2.c.
#pragma once

#include <string>

#include "plugins/models/nn/checkpoint/config_file.h"
#include "plugins/models/nn/transformer/transformer_config.h"

namespace draftlab {

// Reads Mistral's window. Throws DataError where the file asks for something besides Llama's own
// network.
void read_llama(const ConfigFile& file, TransformerConfig& config);

// The network of llama2.c's program, which fixes what its files do not say.
TransformerConfig llama2c_config(const std::string& file);

}  // namespace draftlab
