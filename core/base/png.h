// Draws pictures and writes them as PNG files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace draftlab {

struct Rgb {
  std::uint8_t red = 0, green = 0, blue = 0;
  bool operator==(const Rgb&) const = default;
};

// A rectangle of pixels, from its upper left corner.
struct Box {
  int x = 0, y = 0, width = 0, height = 0;
};

class Raster {
 public:
  Raster(int width, int height, Rgb background = {})
      : width_(width),
        height_(height),
        pixels_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), background) {}
  int width() const { return width_; }
  int height() const { return height_; }
  Rgb& at(int x, int y) {
    return pixels_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
                   static_cast<std::size_t>(x)];
  }
  // The pixels in raster order: row by row from the top, each from the left.
  const std::vector<Rgb>& pixels() const { return pixels_; }
  void fill(const Box& box, Rgb color);
  // The outline lies inside the box.
  void outline(const Box& box, int thickness, Rgb color);

 private:
  int width_, height_;
  std::vector<Rgb> pixels_;
};

// Writes 8 bits a channel, and a single channel where every pixel is grey. The file is there whole
// or not at all (core/base/files.h).
void write_png(const std::string& path, const Raster& raster);

}  // namespace draftlab
