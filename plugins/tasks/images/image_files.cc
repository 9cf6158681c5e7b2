#include "plugins/tasks/images/image_files.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>

#include "core/base/documents.h"
#include "core/base/error.h"

namespace draftlab {
namespace {

constexpr int kOptdigitsSide = 8, kOptdigitsMost = 16;
// The magic numbers stand for unsigned bytes in three dimensions (images) and in one (labels).
constexpr std::uint32_t kImagesMagic = 0x803, kLabelsMagic = 0x801;
constexpr std::uint32_t kLongestSide = 4096;

// The bytes of a file, which zlib unpacks where it is gzipped.
class IdxFile {
 public:
  IdxFile(const std::string& path, std::uint32_t magic, const char* what)
      : path_(path), file_(nullptr, gzclose) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error))
      throw DataError("there is no file '{}'", path);
    file_.reset(gzopen(path.c_str(), "rb"));
    if (!file_) throw DataError("cannot read '{}'", path);
    if (number() != magic) throw DataError("'{}' holds no IDX {}", path, what);
  }
  std::uint32_t number() {
    unsigned char bytes[4];
    read(bytes, sizeof bytes);
    return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
           std::uint32_t{bytes[2]} << 8 | bytes[3];
  }
  void read(unsigned char* bytes, std::size_t count) {
    if (gzread(file_.get(), bytes, static_cast<unsigned>(count)) != static_cast<int>(count))
      throw DataError("'{}' is cut short or damaged", path_);
  }

 private:
  std::string path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
};

}  // namespace

std::vector<LabelledImage> read_idx(const std::string& images, const std::string& labels,
                                    std::int64_t count) {
  IdxFile pixels(images, kImagesMagic, "images"), classes(labels, kLabelsMagic, "labels");
  const std::uint32_t there = pixels.number(), named = classes.number(), rows = pixels.number(),
                      columns = pixels.number();
  if (there != named)
    throw DataError("'{}' holds {} images and '{}' {} labels", images, there, labels, named);
  if (rows < 1 || columns < 1 || rows > kLongestSide || columns > kLongestSide)
    throw DataError("'{}' holds images of {} x {}, whose sides must be in [1, {}]", images, rows,
                    columns, kLongestSide);
  std::vector<LabelledImage> read;
  std::vector<unsigned char> bytes(std::size_t{rows} * columns);
  for (std::int64_t i = 0; i < std::min<std::int64_t>(count, there); ++i) {
    unsigned char label = 0;
    pixels.read(bytes.data(), bytes.size());
    classes.read(&label, 1);
    using Bytes = Eigen::Matrix<unsigned char, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    read.push_back(
        {Eigen::Map<const Bytes>(bytes.data(), rows, columns).cast<double>() / 255, label});
  }
  if (read.empty()) throw DataError("'{}' holds no image", images);
  return read;
}

std::vector<LabelledImage> read_optdigits(const std::string& path, std::int64_t count) {
  std::vector<LabelledImage> read;
  int line = 0;
  for (const std::string& text : all_lines(read_utf8(path))) {
    ++line;
    if (blank(text) || text.starts_with('#')) continue;
    if (static_cast<std::int64_t>(read.size()) == count) break;
    const auto refuse = [&](const std::string& rule) -> DataError {
      return DataError("'{}' line {}: {}", path, line, rule);
    };
    std::vector<int> values;
    const char *at = text.data(), *const end = at + text.size();
    for (; at <= end; ++at) {
      int value = 0;
      const auto parsed = std::from_chars(at, end, value);
      if (parsed.ec != std::errc{} || (parsed.ptr != end && *parsed.ptr != ','))
        throw refuse("what stands between commas must be numbers");
      values.push_back(value);
      at = parsed.ptr;
    }
    if (values.size() != kOptdigitsSide * kOptdigitsSide + 1)
      throw refuse("has " + std::to_string(values.size()) +
                   " numbers, which must be 64 pixels and a class");
    LabelledImage image{Eigen::MatrixXd(kOptdigitsSide, kOptdigitsSide), values.back()};
    if (image.label < 0 || image.label > 9)
      throw refuse("the class " + std::to_string(image.label) + " must be in [0, 9]");
    for (int i = 0; i < kOptdigitsSide * kOptdigitsSide; ++i) {
      const int value = values[static_cast<std::size_t>(i)];
      if (value < 0 || value > kOptdigitsMost)
        throw refuse("the pixel " + std::to_string(value) + " must be in [0, 16]");
      image.pixels(i / kOptdigitsSide, i % kOptdigitsSide) =
          static_cast<double>(value) / kOptdigitsMost;
    }
    read.push_back(std::move(image));
  }
  if (read.empty()) throw DataError("'{}' holds no image", path);
  return read;
}

}  // namespace draftlab
