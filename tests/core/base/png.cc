#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/core/base/png_reader.h"

namespace draftlab {

TEST_CASE("pictures are PNG files, of one channel where all is grey") {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("draftlab_png_" + std::to_string(::getpid()) + ".png"))
                               .string();
  Raster raster(7, 5, {9, 9, 9});
  raster.fill({1, 2, 3, 2}, {200, 200, 200});
  write_png(path, raster);
  PngRead read = read_png(path);
  CHECK(read.grey);
  CHECK(read.raster.pixels() == raster.pixels());

  raster.outline({0, 0, 7, 5}, 1, {1, 2, 3});
  write_png(path, raster);
  read = read_png(path);
  CHECK_FALSE(read.grey);
  CHECK(read.raster.pixels() == raster.pixels());
  CHECK(read.raster.at(6, 4) == Rgb{1, 2, 3});
  CHECK(read.raster.at(2, 3) == Rgb{200, 200, 200});
  CHECK(read.raster.at(5, 3) == Rgb{9, 9, 9});
  std::filesystem::remove(path);
}

}  // namespace draftlab
