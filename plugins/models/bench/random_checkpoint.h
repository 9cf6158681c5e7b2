// Writes checkpoints of random weights in the shapes of the published ones, for benchmarks and for
// tests of loading: the same files, names, types and sizes, made without ever holding them in
// memory.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plugins/models/nn/checkpoint/safetensors.h"

namespace draftlab {

// The shapes by name, in the order of the file.
using TensorShapes = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;

// Returns the names that `write_published_config` knows: "sdar-1.7b", "xlnet-base", ...
std::vector<std::string> published_shapes();
// Writes FOLDER/config.json of the published checkpoint `name`. Throws UsageError for another name.
void write_published_config(const std::string& name, const std::string& folder);

// Writes the weights that FOLDER/config.json describes, f32 or bf16, in files of at most
// `shard_bytes` and their index. Norms are one, biases zero, and the rest is uniform with deviation
// 0.02, by a counter.
void write_random_weights(const std::string& folder, ElementType type,
                          std::uint64_t shard_bytes = std::uint64_t{2} << 30);

}  // namespace draftlab

// The torch module exports this function. It lists what a checkpoint with this folder's config.json
// holds.
extern "C" void draftlab_checkpoint_shapes(const std::string* folder,
                                           draftlab::TensorShapes* shapes);
