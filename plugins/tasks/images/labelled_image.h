// Images of one channel, and what a model of vector tokens sees of them: square patches in raster
// order.
#pragma once

#include <Eigen/Core>

namespace draftlab {

struct LabelledImage {
  Eigen::MatrixXd pixels;  // [rows, columns], the values that models see
  int label = 0;           // class, from 0
};

// What an intensity in [0, 1] (0 black, 1 white) is as a value that models see: (intensity - mean)
// / deviation.
struct PixelScale {
  double mean = 0, deviation = 1;
  double value(double intensity) const { return (intensity - mean) / deviation; }
  double intensity(double value) const { return mean + deviation * value; }  // not clamped
};

// Patches in raster order, a row each; the values within a patch are in raster order, too. Fault
// unless `patch` divides both sides.
Eigen::MatrixXd tokens_of(const Eigen::MatrixXd& pixels, int patch);
// The inverse: [rows / patch * columns / patch, patch * patch] to [rows, columns].
Eigen::MatrixXd pixels_of(const Eigen::MatrixXd& tokens, int rows, int columns, int patch);

}  // namespace draftlab
