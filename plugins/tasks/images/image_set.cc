#include "plugins/tasks/images/image_set.h"

#include <cmath>
#include <cstdio>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/npy.h"
#include "core/base/words.h"
#include "core/prob/chance.h"
#include "plugins/tasks/images/digits.h"
#include "plugins/tasks/images/image_files.h"

namespace draftlab {

void ImageSetOptions::declare(OptionSet& set) {
  set.add("source", &source)
      .help(
          "Where images come from. digits: generated ones of 16 x 16; idx: MNIST's files, gzipped "
          "or not; optdigits: UCI's 8 x 8; npy: numpy arrays, see path.");
  set.add("split", &split).help("Split of the generated digits; splits share no draws.");
  set.add("path", &path)
      .help(
          "File of images. Of npy: tokens [N, positions, dimension] as they are, or latents [N, "
          "channels, height, width] (KL-16), which are scaled and cut into patches.");
  set.add("labels", &labels)
      .help("File of classes, beside the images: IDX, or npy [N]; optdigits has them in one file.");
  set.add("count", &count)
      .in(1, 1 << 24)
      .help("How many images; at most as many as the files hold.");
  set.add("seed", &seed).help("Seed of the generated digits.");
  set.add("patch", &patch)
      .in(1, 256)
      .help(
          "Side of the square of pixels that is a token; generated digits have 4, KL-16 latents "
          "1.");
  set.add("classes", &classes).in(1, 1 << 20).help("How many classes there are.");
  set.add("mean", &mean)
      .in(-1e6, 1e6)
      .help(
          "Mean of files of pixels (in [0, 1]) and latents: a model sees (pixel - mean) / "
          "deviation.");
  set.add("deviation", &deviation)
      .in(1e-6, 1e6)
      .help(
          "Deviation, see mean; MAR's tokens are latents with mean 0 and deviation 1 / 0.2325 = "
          "4.3011.");
}

ImageSet::ImageSet(const ImageSetOptions& options) : options_(options) {
  const ImageSource source = options_.source;
  if (source == ImageSource::digits) {
    if (options_.patch != kDigitPatch || options_.classes != 10)
      throw ConfigError("source = digits has patch = 4 and classes = 10");
    positions_ = kDigitSide / kDigitPatch * (kDigitSide / kDigitPatch),
    dimension_ = kDigitPatch * kDigitPatch;
    return;
  }
  if (options_.path.empty())
    throw ConfigError("source = {} needs path, the file of its images", word(source));
  if (options_.labels.empty() && source != ImageSource::optdigits)
    throw ConfigError("source = {} needs labels, the file of its classes", word(source));
  if (source == ImageSource::idx)
    keep(read_idx(options_.path, options_.labels, options_.count));
  else if (source == ImageSource::optdigits)
    keep(read_optdigits(options_.path, options_.count));
  else
    read_tokens();
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    if (labels_[i] < 0 || labels_[i] >= options_.classes)
      throw DataError("'{}': image {} has class {}, which must be below classes = {}",
                      options_.path, i, labels_[i], options_.classes);
  }
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (!std::isfinite(values_[i]))
      throw DataError("'{}': image {} holds a value that is not finite", options_.path,
                      i / (values_.size() / labels_.size()));
  }
  const auto hash = [](const auto& values, std::uint64_t seed) {
    return stable_hash(
        {reinterpret_cast<const char*>(values.data()), values.size() * sizeof values[0]}, seed);
  };
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx",
                static_cast<unsigned long long>(hash(values_, hash(labels_, 0))));
  digest_ = digits;
}

void ImageSet::keep(const std::vector<LabelledImage>& images) {
  const int patch = static_cast<int>(options_.patch);
  const Eigen::Index rows = images.front().pixels.rows(), columns = images.front().pixels.cols();
  if (rows % patch != 0 || columns % patch != 0)
    throw DataError("'{}': images of {} x {} are not cut evenly by patch = {}", options_.path, rows,
                    columns, patch);
  positions_ = static_cast<int>(rows / patch * (columns / patch)), dimension_ = patch * patch;
  const PixelScale scale{options_.mean, options_.deviation};
  for (const LabelledImage& image : images) {
    const Eigen::MatrixXd tokens = tokens_of(image.pixels, patch);
    for (Eigen::Index t = 0; t < tokens.rows(); ++t)
      for (Eigen::Index v = 0; v < tokens.cols(); ++v)
        values_.push_back(static_cast<float>(scale.value(tokens(t, v))));
    labels_.push_back(image.label);
  }
}

void ImageSet::read_tokens() {
  NpyArray array = read_npy(options_.path, options_.count);
  const NpyArray classes = read_npy(options_.labels, options_.count);
  const std::vector<std::int64_t>& shape = array.shape;
  const bool latents = shape.size() == 4;
  if ((shape.size() != 3 && !latents) || array.values.empty())
    throw DataError(
        "'{}' must hold tokens [N, positions, dimension] or latents [N, channels, height, width], "
        "at least one",
        options_.path);
  if (classes.shape.size() != 1 || classes.shape[0] != shape[0])
    throw DataError("'{}' must hold one class for each of the {} images of '{}'", options_.labels,
                    shape[0], options_.path);
  for (const float label : classes.values) labels_.push_back(static_cast<int>(label));
  if (!latents) {
    positions_ = static_cast<int>(shape[1]), dimension_ = static_cast<int>(shape[2]);
    values_ = std::move(array.values);
    return;
  }
  // A token holds, for each channel, its square in raster order, as in MAR's patchify.
  const std::int64_t channels = shape[1], height = shape[2], width = shape[3],
                     patch = options_.patch;
  if (height % patch != 0 || width % patch != 0)
    throw DataError("'{}': latents of {} x {} are not cut evenly by patch = {}", options_.path,
                    height, width, patch);
  positions_ = static_cast<int>(height / patch * (width / patch)),
  dimension_ = static_cast<int>(channels * patch * patch);
  const PixelScale scale{options_.mean, options_.deviation};
  values_.reserve(array.values.size());
  for (std::int64_t n = 0; n < shape[0]; ++n)
    for (std::int64_t y = 0; y < height; y += patch)
      for (std::int64_t x = 0; x < width; x += patch)
        for (std::int64_t c = 0; c < channels; ++c)
          for (std::int64_t p = 0; p < patch * patch; ++p) {
            const std::int64_t at =
                ((n * channels + c) * height + y + p / patch) * width + x + p % patch;
            values_.push_back(
                static_cast<float>(scale.value(array.values[static_cast<std::size_t>(at)])));
          }
}

ImageSet::Item ImageSet::item(std::int64_t index) const {
  if (index < 0 || index >= size()) throw Fault("image {} of {}", index, size());
  if (options_.source == ImageSource::digits) {
    const LabelledImage image =
        make_digit(static_cast<std::uint64_t>(options_.seed), index, options_.split);
    return {tokens_of(image.pixels, kDigitPatch), image.label};
  }
  using Tokens = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const float* const values = values_.data() + index * positions_ * dimension_;
  return {Eigen::Map<const Tokens>(values, positions_, dimension_).cast<double>(),
          labels_[static_cast<std::size_t>(index)]};
}

std::string ImageSet::id(std::int64_t index) const {
  const std::string name = options_.source == ImageSource::digits
                               ? "digits-" + std::string(word(options_.split))
                               : std::filesystem::path(options_.path).stem().string();
  return name + "-" + std::to_string(index);
}

}  // namespace draftlab
