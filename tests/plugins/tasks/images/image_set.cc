#include "plugins/tasks/images/image_set.h"

#include <doctest/doctest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "core/base/npy.h"
#include "plugins/tasks/images/digits.h"
#include "plugins/tasks/images/image_files.h"

namespace draftlab {
namespace {

class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("draftlab_images_" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string path(const std::string& name) const { return (path_ / name).string(); }
  std::string file(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return path(name);
  }
  std::string gzipped(const std::string& name, const std::string& bytes) const {
    const gzFile out = gzopen(path(name).c_str(), "wb");
    gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(out);
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

template <class Make>
std::string image_set_refusal(Make make) {
  try {
    make();
  } catch (const Error& error) {
    const std::string what = error.what();
    const std::size_t slash = what.rfind('/', what.find('\'', 1));  // The path, without the folder.
    return slash == std::string::npos ? what : "'" + what.substr(slash + 1);
  }
  return "";
}

using namespace std::string_literals;
const std::string kImages =
    "\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x04\0\x33\x66\xff\x99\xcc\0\0\1\2\3\4\5\6\7\x08"s;
const std::string kLabels = "\0\0\x08\x01\0\0\0\x02\x07\x03"s;

TEST_CASE(
    "IDX files, gzipped or not: intensities and labels; what is wrong with others is said in a "
    "sentence") {
  const Folder folder;
  for (const bool zip : {false, true}) {
    const std::string images = zip ? folder.gzipped("i.gz", kImages) : folder.file("i", kImages);
    const std::vector<LabelledImage> read = read_idx(images, folder.file("l", kLabels), 10);
    REQUIRE(read.size() == 2);
    CHECK(read[0].label == 7);
    CHECK(read[1].label == 3);
    REQUIRE(read[0].pixels.rows() == 2);
    CHECK(read[0].pixels(0, 3) == 1);
    CHECK(read[0].pixels(1, 1) == doctest::Approx(0.8));
  }
  const std::string labels = folder.file("l", kLabels);
  CHECK(read_idx(folder.file("i", kImages), labels, 1).size() == 1);
  CHECK_THROWS_AS(read_idx(folder.path("none"), labels, 1), DataError);
  CHECK(image_set_refusal([&] { read_idx(labels, labels, 1); }) == "'l' holds no IDX images");
  CHECK(image_set_refusal([&] { read_idx(folder.file("i", kImages.substr(0, 25)), labels, 2); }) ==
        "'i' is cut short or damaged");
  CHECK(image_set_refusal([&] {
          read_idx(folder.file("i", kImages), folder.file("m", "\0\0\x08\x01\0\0\0\x01\x07"s), 2);
        }).starts_with("'i' holds 2 images and "));
}

TEST_CASE("optdigits: 64 intensities of 16 and a class a line; comments are passed over") {
  const Folder folder;
  std::string line;
  for (int i = 0; i < 64; ++i) line += std::to_string(i % 17) + ",";
  const std::vector<LabelledImage> read =
      read_optdigits(folder.file("a", "# classes\n" + line + "9\r\n\n" + line + "0\n"), 10);
  REQUIRE(read.size() == 2);
  CHECK(read[0].label == 9);
  CHECK(read[0].pixels(2, 0) == 1);  // It is the 17th pixel.
  CHECK(read[1].pixels(0, 1) == doctest::Approx(1.0 / 16));
  CHECK(image_set_refusal([&] { read_optdigits(folder.file("a", line + "10\n"), 1); }) ==
        "'a' line 1: the class 10 must be in [0, 9]");
  CHECK(image_set_refusal([&] {
          read_optdigits(folder.file("a", "17," + line.substr(2) + "1\n"), 1);
        }) == "'a' line 1: the pixel 17 must be in [0, 16]");
  CHECK(image_set_refusal([&] { read_optdigits(folder.file("a", "#\n1,2\n"), 1); }) ==
        "'a' line 2: has 2 numbers, which must be 64 pixels and a class");
  CHECK(image_set_refusal([&] { read_optdigits(folder.file("a", "1,,2\n"), 1); }) ==
        "'a' line 1: what stands between commas must be numbers");
}

TEST_CASE("an image set is tokens and classes, whatever it was made of") {
  const Folder folder;
  ImageSetOptions options;
  options.count = 30, options.split = ProblemSplit::tune, options.seed = 5;
  const ImageSet digits(options);
  CHECK(digits.size() == 30);
  CHECK(digits.positions() == 16);
  CHECK(digits.dimension() == 16);
  CHECK(digits.item(12).label == 2);
  CHECK(digits.item(12).tokens == tokens_of(make_digit(5, 12, ProblemSplit::tune).pixels, 4));
  CHECK(digits.id(12) == "digits-tune-12");

  options.source = ImageSource::idx, options.path = folder.file("i", kImages),
  options.labels = folder.file("l", kLabels), options.patch = 2;
  options.mean = 0.5, options.deviation = 0.25;
  const ImageSet files(options);
  CHECK(files.size() == 2);
  CHECK(files.positions() == 2);
  CHECK(files.item(0).tokens.row(1).isApprox(Eigen::RowVector4d(-0.4, 2, -2, -2),
                                             1e-6));  // That is 0x66 0xff / 0 0.
  CHECK(files.id(1) == "i-1");
  CHECK(files.digest().size() == 16);
  options.patch = 4;
  CHECK(image_set_refusal([&] { ImageSet{options}; }) ==
        "'i': images of 2 x 4 are not cut evenly by patch = 4");
  options.patch = 2, options.classes = 7;
  CHECK(image_set_refusal([&] { ImageSet{options}; }) ==
        "'i': image 0 has class 7, which must be below classes = 7");
  options.labels.clear();
  CHECK(image_set_refusal([&] { ImageSet{options}; }) ==
        "source = idx needs labels, the file of its classes");
}

TEST_CASE("numpy's files: tokens as they are, latents scaled and cut as MAR cuts them") {
  const Folder folder;
  std::vector<float> values(32);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  write_npy(folder.path("tokens.npy"), {2, 4, 4}, values);
  write_npy(folder.path("labels.npy"), {2}, std::vector<float>{1, 0});
  ImageSetOptions options;
  options.source = ImageSource::npy, options.path = folder.path("tokens.npy"),
  options.labels = folder.path("labels.npy"), options.classes = 2;
  const ImageSet tokens(options);
  CHECK(tokens.positions() == 4);
  CHECK(tokens.item(1).tokens(2, 3) == 27);
  CHECK(tokens.item(0).label == 1);

  write_npy(folder.path("latents.npy"), {2, 2, 2, 4}, values);  // Two channels of 2 x 4.
  options.path = folder.path("latents.npy"), options.patch = 2, options.mean = 0,
  options.deviation = 0.5;
  const ImageSet latents(options);
  CHECK(latents.positions() == 2);
  CHECK(latents.dimension() == 8);
  Eigen::RowVectorXd second(8);
  second << 2, 3, 6, 7, 10, 11, 14, 15;  // The order is channel, row, column.
  CHECK(latents.item(0).tokens.row(1) == 2 * second);

  write_npy(folder.path("labels.npy"), {1}, std::vector<float>{1});
  CHECK(image_set_refusal([&] {
          ImageSet{options};
        }).starts_with("'labels.npy' must hold one class for each of the 2 images"));
  write_npy(folder.path("labels.npy"), {2}, std::vector<float>{1, 0});
  values[17] = std::numeric_limits<float>::quiet_NaN();
  write_npy(folder.path("latents.npy"), {2, 2, 2, 4}, values);
  CHECK(image_set_refusal([&] { ImageSet{options}; }) ==
        "'latents.npy': image 1 holds a value that is not finite");
}

}  // namespace
}  // namespace draftlab
