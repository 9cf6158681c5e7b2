// A tokenizer whose tokens are the bytes of a text: token i is the byte i. It belongs to a
// checkpoint that is one file with an embedding of 256 tokens, such as the small models of
// rwkv.cpp.
#pragma once

#include <memory>
#include <string>

#include "core/parts/task.h"

namespace draftlab {

// Whether `path` is a file of rwkv.cpp, or *.safetensors with an `emb.weight`, of 256 tokens.
bool has_bytes(const std::string& path);
std::unique_ptr<Tokenizer> make_bytes();

}  // namespace draftlab
