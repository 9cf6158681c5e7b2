#include "core/base/png.h"

#include <zlib.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/files.h"

namespace draftlab {
namespace {

std::string big_endian(std::uint32_t number) {
  return {static_cast<char>(number >> 24), static_cast<char>(number >> 16),
          static_cast<char>(number >> 8), static_cast<char>(number)};
}

std::string chunk(const std::string& type, const std::string& data) {
  const std::string body = type + data;
  const uLong sum =
      crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<std::uint32_t>(data.size())) + body +
         big_endian(static_cast<std::uint32_t>(sum));
}

}  // namespace

void Raster::fill(const Box& box, Rgb color) {
  for (int row = box.y; row < box.y + box.height; ++row)
    for (int column = box.x; column < box.x + box.width; ++column) at(column, row) = color;
}

void Raster::outline(const Box& box, int thickness, Rgb color) {
  const auto [x, y, width, height] = box;
  fill({x, y, width, thickness}, color);
  fill({x, y + height - thickness, width, thickness}, color);
  fill({x, y, thickness, height}, color);
  fill({x + width - thickness, y, thickness, height}, color);
}

void write_png(const std::string& path, const Raster& raster) {
  const std::vector<Rgb>& pixels = raster.pixels();
  const bool grey = std::all_of(pixels.begin(), pixels.end(),
                                [](const Rgb& p) { return p.red == p.green && p.red == p.blue; });
  std::string lines;  // Each line begins with the number of its filter, which is none.
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    if (i % static_cast<std::size_t>(raster.width()) == 0) lines += '\0';
    lines += static_cast<char>(pixels[i].red);
    if (!grey) lines += {static_cast<char>(pixels[i].green), static_cast<char>(pixels[i].blue)};
  }
  uLongf size = compressBound(lines.size());
  std::string packed(size, '\0');
  if (compress(reinterpret_cast<Bytef*>(packed.data()), &size,
               reinterpret_cast<const Bytef*>(lines.data()), lines.size()) != Z_OK)
    throw Fault("zlib cannot pack the picture '{}'", path);
  packed.resize(size);
  const std::string header = big_endian(static_cast<std::uint32_t>(raster.width())) +
                             big_endian(static_cast<std::uint32_t>(raster.height())) +
                             std::string{'\10', grey ? '\0' : '\2', '\0', '\0', '\0'};
  write_whole(path, std::string("\x89PNG\r\n\x1a\n") + chunk("IHDR", header) +
                        chunk("IDAT", packed) + chunk("IEND", ""));
}

}  // namespace draftlab
