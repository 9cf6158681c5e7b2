// Arrays as numpy stores them: what goes to and comes from other people's tools.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace draftlab {

struct NpyArray {
  std::vector<std::int64_t> shape;
  std::vector<float> values;  // the last axis varies fastest
};

// The first `rows` of a .npy file (all, where it has fewer): little-endian f4, f8, i4, i8 or u1, in
// C order. DataError for any other file, or one that is shorter than its header says.
NpyArray read_npy(const std::string& path,
                  std::int64_t rows = std::numeric_limits<std::int64_t>::max());

// As f4; whole or not at all (core/base/files.h). Fault unless the shape holds as many values.
void write_npy(const std::string& path, const std::vector<std::int64_t>& shape,
               std::span<const float> values);

}  // namespace draftlab
