// A set of labelled images as models of vector tokens see them: the project's own, files of images,
// or tokens that another program's encoder made (the KL-16 latents of MAR).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/options.h"
#include "plugins/tasks/images/labelled_image.h"

namespace draftlab {

struct ImageSetOptions {
  std::string source = "digits", split = "test", path, labels;
  std::int64_t count = 1000, seed = 1, patch = 4, classes = 10;
  double mean = 0.18, deviation = 0.33;
  void declare(OptionSet& set);
};

class ImageSet {
 public:
  // Reads what there is to read. ConfigError: an option that the source needs is missing.
  // DataError: a file is damaged, a patch does not divide its images, a class is out of range, a
  // value is not finite.
  explicit ImageSet(const ImageSetOptions& options);

  std::int64_t size() const {
    return options_.source == "digits" ? options_.count : static_cast<std::int64_t>(labels_.size());
  }
  int positions() const { return positions_; }  // tokens of an image
  int dimension() const { return dimension_; }  // of a token
  int classes() const { return static_cast<int>(options_.classes); }
  struct Item {
    Eigen::MatrixXd tokens;  // [positions, dimension]
    int label = 0;
  };
  Item item(std::int64_t index) const;  // generated, or of the file
  std::string id(std::int64_t index) const;
  std::string digest() const { return digest_; }  // of what was read; "" for generated images

 private:
  void keep(const std::vector<LabelledImage>& images);
  void read_tokens();
  ImageSetOptions options_;
  int positions_ = 0, dimension_ = 0;
  std::vector<int> labels_;
  std::vector<float> values_;  // [image, position, dimension]
  std::string digest_;
};

}  // namespace draftlab
