// Checkpoints of random weights in the shapes of the published ones, for benchmarks and for tests
// of loading: the same files, names, types and sizes, made without ever holding them in memory.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plugins/models/checkpoint/safetensors.h"

namespace draftlab {

using TensorShapes =
    std::vector<std::pair<std::string, std::vector<std::int64_t>>>;  // by name, in the order of the
                                                                     // file

// Names that `write_published_config` knows: "sdar-1.7b", "xlnet-base", ...
std::vector<std::string> published_shapes();
// FOLDER/config.json of the published checkpoint `name`; UsageError for another name.
void write_published_config(const std::string& name, const std::string& folder);

// The weights that FOLDER/config.json describes, f32 or bf16, in files of at most `shard_bytes` and
// their index: norms one, biases zero, the rest uniform with deviation 0.02, by counter.
void write_random_weights(const std::string& folder, ElementType type,
                          std::uint64_t shard_bytes = std::uint64_t{2} << 30);

}  // namespace draftlab

// Exported by the torch module: what a checkpoint with this folder's config.json holds.
extern "C" void draftlab_checkpoint_shapes(const std::string* folder,
                                           draftlab::TensorShapes* shapes);
