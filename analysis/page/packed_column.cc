#include "analysis/page/packed_column.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace draftlab {
namespace {

std::string base64(const std::string& bytes) {
  constexpr const char* kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k <= bytes.size() ? kDigits[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace

PackedColumn pack_floats(const std::vector<double>& values) {
  std::string bytes;
  for (double value : values) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift & 255);
  }
  return {"f32", base64(bytes)};
}

PackedColumn pack(const std::vector<std::int64_t>& values) {
  std::int64_t most = 0;
  for (std::int64_t value : values) most = std::max(most, value);
  const int width = most < 256 ? 1 : most < 65536 ? 2 : 4;
  std::string bytes;
  bytes.reserve(values.size() * static_cast<std::size_t>(width));
  for (std::int64_t value : values) {
    for (int k = 0; k < width; ++k)
      bytes += static_cast<char>(
          static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0)) >> (8 * k) & 255);
  }
  return {"u" + std::to_string(8 * width), base64(bytes)};
}

std::int64_t probability_code(double p) {
  if (std::isnan(p)) return 65535;
  if (p <= 0) return 65534;
  return std::clamp<std::int64_t>(std::llround(-3000 * std::log(p)), 0, 65533);
}

}  // namespace draftlab
