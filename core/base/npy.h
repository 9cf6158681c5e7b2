// Arrays in numpy's file format, which other people's tools read and write.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace draftlab {

struct NpyArray {
  std::vector<std::int64_t> shape;
  // The values in C order: the last axis varies fastest.
  std::vector<float> values;
};

// Returns the first `rows` rows of a .npy file, or all rows where it has fewer. The array must be
// little-endian f4, f8, i4, i8 or u1, in C order. Throws DataError for any other file, and for one
// that is shorter than its header says.
NpyArray read_npy(const std::string& path,
                  std::int64_t rows = std::numeric_limits<std::int64_t>::max());

// Writes the values as f4; the file is there whole or not at all (core/base/files.h). Throws a
// Fault unless the shape holds as many values as are given.
void write_npy(const std::string& path, const std::vector<std::int64_t>& shape,
               std::span<const float> values);

}  // namespace draftlab
