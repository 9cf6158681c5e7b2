// A set of labelled images as models of vector tokens see them: the project's own, files of images,
// or tokens that another program's encoder made (the KL-16 latents of MAR).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/options.h"
#include "plugins/tasks/images/labelled_image.h"
#include "plugins/tasks/problem_split.h"

namespace draftlab {

// Where images come from.
enum class ImageSource { digits, idx, optdigits, npy };
constexpr std::array<std::string_view, 4> words(ImageSource) {
  return {"digits", "idx", "optdigits", "npy"};
}

struct ImageSetOptions {
  ImageSource source = ImageSource::digits;
  ProblemSplit split = ProblemSplit::test;
  std::string path, labels;
  std::int64_t count = 1000, seed = 1, patch = 4, classes = 10;
  double mean = 0.18, deviation = 0.33;
  void declare(OptionSet& set);
};

class ImageSet {
 public:
  // Reads what the source holds. Throws ConfigError when an option that the source needs is
  // missing, and DataError when a file is damaged, a patch does not divide its images, a class is
  // out of range, or a value is not finite.
  explicit ImageSet(const ImageSetOptions& options);

  std::int64_t size() const {
    return options_.source == ImageSource::digits ? options_.count
                                                  : static_cast<std::int64_t>(labels_.size());
  }
  // The number of tokens of an image.
  int positions() const { return positions_; }
  // The dimension of a token.
  int dimension() const { return dimension_; }
  int classes() const { return static_cast<int>(options_.classes); }
  struct Item {
    // The shape is [positions, dimension].
    Eigen::MatrixXd tokens;
    int label = 0;
  };
  // The item is generated or read from the file.
  Item item(std::int64_t index) const;
  std::string id(std::int64_t index) const;
  // The digest of what was read; "" for generated images.
  std::string digest() const { return digest_; }

 private:
  void keep(const std::vector<LabelledImage>& images);
  void read_tokens();
  ImageSetOptions options_;
  int positions_ = 0, dimension_ = 0;
  std::vector<int> labels_;
  // The shape is [image, position, dimension].
  std::vector<float> values_;
  std::string digest_;
};

}  // namespace draftlab
