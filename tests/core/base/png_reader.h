// Reads back what core/base/png.h writes: chunks with their sums, one IDAT, no filter.
#pragma once

#include <doctest/doctest.h>
#include <zlib.h>

#include <fstream>
#include <sstream>
#include <string>

#include "core/base/png.h"

namespace draftlab {

struct PngRead {
  Raster raster;
  bool grey = false;
};

inline PngRead read_png(const std::string& path) {
  std::ostringstream stream;
  stream << std::ifstream(path, std::ios::binary).rdbuf();
  const std::string file = stream.str();
  const auto number = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i)
      value = value << 8 | static_cast<unsigned char>(file.at(at + i));
    return value;
  };
  REQUIRE(file.starts_with("\x89PNG\r\n\x1a\n"));
  std::string packed;
  std::uint32_t width = 0, height = 0;
  int colors = -1;
  for (std::size_t at = 8; at < file.size();) {
    const std::uint32_t size = number(at);
    const std::string type = file.substr(at + 4, 4);
    REQUIRE(crc32(0, reinterpret_cast<const Bytef*>(file.data() + at + 4), size + 4) ==
            number(at + 8 + size));
    if (type == "IHDR") width = number(at + 8), height = number(at + 12), colors = file[at + 17];
    if (type == "IDAT") packed = file.substr(at + 8, size);
    at += 12 + size;
  }
  const std::size_t bytes = colors == 0 ? 1 : 3;
  uLongf length = (width * bytes + 1) * height;
  std::string lines(length, '\0');
  REQUIRE(uncompress(reinterpret_cast<Bytef*>(lines.data()), &length,
                     reinterpret_cast<const Bytef*>(packed.data()), packed.size()) == Z_OK);
  PngRead read{Raster(static_cast<int>(width), static_cast<int>(height)), colors == 0};
  for (std::size_t y = 0; y < height; ++y) {
    REQUIRE(lines[y * (width * bytes + 1)] == 0);
    for (std::size_t x = 0; x < width; ++x) {
      const auto byte = [&](std::size_t k) {
        return static_cast<std::uint8_t>(
            lines[y * (width * bytes + 1) + 1 + x * bytes + (bytes == 1 ? 0 : k)]);
      };
      read.raster.at(static_cast<int>(x), static_cast<int>(y)) = {byte(0), byte(1), byte(2)};
    }
  }
  return read;
}

}  // namespace draftlab
