// Images of one channel, and what a model of vector tokens sees of them: square patches in raster
// order.
#pragma once

#include <Eigen/Core>

namespace draftlab {

struct LabelledImage {
  // The values that models see, of shape [rows, columns].
  Eigen::MatrixXd pixels;
  // The class, counted from 0.
  int label = 0;
};

// The map between an intensity in [0, 1] (0 is black, 1 white) and a value that models see: value =
// (intensity - mean) / deviation.
struct PixelScale {
  double mean = 0, deviation = 1;
  double value(double intensity) const { return (intensity - mean) / deviation; }
  // The result is not clamped.
  double intensity(double value) const { return mean + deviation * value; }
};

// Returns the patches in raster order, one a row; the values within a patch are in raster order,
// too. Throws a Fault unless `patch` divides both sides.
Eigen::MatrixXd tokens_of(const Eigen::MatrixXd& pixels, int patch);
// Computes the inverse: it maps [rows / patch * columns / patch, patch * patch] to [rows, columns].
Eigen::MatrixXd pixels_of(const Eigen::MatrixXd& tokens, int rows, int columns, int patch);

}  // namespace draftlab
