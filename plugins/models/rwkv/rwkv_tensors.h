// The tensors of a file with an RWKV model, as numbers of f32 in the form that rwkv.cpp's files
// have. Two kinds of files are read:
//   - rwkv.cpp's: six int32 (magic, version 101, vocabulary, width, layers, type), then for each
//     tensor its number of dimensions, length of name and type, its dimensions (innermost first),
//     its name and its numbers in f32 or f16.
//   - safetensors in the names that PyTorch checkpoints have. There the decays of 5.2 are
//     logarithms of logarithms, and in 7 the small matrices stand transposed and each mix by
//     itself.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace draftlab {

struct RwkvTensor {
  // The innermost dimension stands last.
  std::vector<std::int64_t> shape;
  std::vector<float> numbers;
};

struct RwkvTensors {
  std::string path;
  // The digest of the file's bytes.
  std::string digest;
  std::map<std::string, RwkvTensor> tensors;
};

// Throws DataError where the file cannot be read, or is neither of the two.
RwkvTensors read_rwkv_tensors(const std::string& path);

}  // namespace draftlab
