// Columns of numbers as the page carries them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace draftlab {

// A column as the page carries it: base64 of little-endian unsigned integers as narrow as they fit
// ("u8", "u16", "u32").
struct PackedColumn {
  std::string type, data;
};
PackedColumn pack(const std::vector<std::int64_t>& values);
// A probability on the page's scale is round(-3000 ln p), 21.8 nats at most; 65534 stands for zero,
// and 65535 for not measured.
std::int64_t probability_code(double p);
// The same for numbers, as little-endian floats ("f32").
PackedColumn pack_floats(const std::vector<double>& values);

}  // namespace draftlab
